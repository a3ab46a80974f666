// SPDX-License-Identifier: Apache-2.0
// In a file of its own, so that programs that only read artifacts link no compressor.
#include <zstd.h>

#include <cstdlib>
#include <memory>

#include "halftone/manifest/texts.hpp"

namespace halftone::manifest {
namespace {

constexpr int kLevel = 12;

void put_length(std::string& whole, std::uint64_t length) {
  for (std::size_t i = 0; i < sizeof length; ++i) {
    whole.push_back(static_cast<char>(static_cast<unsigned char>(length >> (8 * i))));
  }
}

}  // namespace

std::vector<std::byte> pack_texts(std::span<const std::string> texts) {
  if (texts.empty()) return {};
  std::string whole;
  for (const std::string& text : texts) {
    put_length(whole, text.size());
    whole += text;
  }
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<std::byte> packed(ZSTD_compressBound(whole.size()));
  const std::size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), whole.data(), whole.size());
  if (ZSTD_isError(size)) std::abort();  // the buffer is of ZSTD_compressBound: memory ran out
  packed.resize(size);
  return packed;
}

}  // namespace halftone::manifest
