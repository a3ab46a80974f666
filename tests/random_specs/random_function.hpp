// SPDX-License-Identifier: Apache-2.0
// Functions of single elements, of every operation, whose results lie in (-1, 1); most have a
// finite derivative everywhere.
#pragma once

#include "choices.hpp"
#include "halftone/description/description.hpp"

namespace halftone::tests {

description::Expression random_expression(Choices& choices, std::size_t arity);

}  // namespace halftone::tests
