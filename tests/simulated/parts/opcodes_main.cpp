// SPDX-License-Identifier: Apache-2.0
// Runs the tables first and the ledger behind them, which counts what they launched. With arguments
// there is one run, of what they choose.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int count, char** values) {
  if (count > 1) return doctest::Context(count, values).run();
  doctest::Context tables;
  tables.addFilter("test-suite-exclude", "ledger");
  if (const int failed = tables.run(); failed != 0) return failed;
  doctest::Context ledger;
  ledger.addFilter("test-suite", "ledger");
  return ledger.run();
}
