// SPDX-License-Identifier: Apache-2.0
// Both: the header may have been included before, among precompiled ones.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
