// SPDX-License-Identifier: Apache-2.0
// Asynchronous work of threads that end.
#pragma once

#include "execute.hpp"

namespace halftone::simulator {

/// Notes copies of these lanes that nobody waited for.
void check_copies_at_exit(Context& context, std::uint32_t lanes);

}  // namespace halftone::simulator
