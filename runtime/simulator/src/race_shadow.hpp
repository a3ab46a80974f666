// SPDX-License-Identifier: Apache-2.0
// Who touched each byte last: shadow of shared and global memory. Lines of 16 bytes have one cell
// as long as they are accessed whole, as ldmatrix and asynchronous copies do, and one per granule
// afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace halftone::simulator {

/// One access. time = 0: none.
struct Stamp {
  std::uint32_t time = 0;
  std::uint32_t block = 0;
  std::uint32_t site = 0;
  std::uint16_t thread = 0;  // of the block, or an agent behind its threads
  std::uint8_t strong = 0;   // 0: weak; else 1 + scope
  bool generic = true;       // not through the asynchronous proxy
};

/// Reads by lanes of one warp at one time; stamp.thread is one of them.
struct ReadStamp {
  Stamp stamp;
  std::uint32_t lanes = 0;
};

struct Cell {
  Stamp write;
  ReadStamp read;
  std::uint32_t more = 0;  // index of further reads in ReadSets, or 0
};

/// Further reads that no order relates to a cell's first.
class ReadSets {
 public:
  /// Of one cell; beyond, the oldest are forgotten. Global memory that all blocks read needs few:
  /// one of them says that a write races.
  static constexpr std::size_t kMostShared = 16, kMostGlobal = 3;

  std::uint32_t copy(std::uint32_t index);
  void drop(std::uint32_t& index);
  void add(std::uint32_t& index, const ReadStamp& read, std::size_t most);
  std::vector<ReadStamp>& at(std::uint32_t index) { return sets_[index]; }

 private:
  std::vector<std::vector<ReadStamp>> sets_ = std::vector<std::vector<ReadStamp>>(1);
  std::vector<std::uint32_t> free_;
};

/// Cells of a stretch of memory that starts at a multiple of 16 bytes.
class ShadowLines {
 public:
  static constexpr std::uint32_t kLine = 16;

  ShadowLines(std::uint64_t bytes, std::uint32_t granule)
      : granule_(granule), whole_((bytes + kLine - 1) / kLine), split_(whole_.size(), 0) {}

  /// Calls visit(cell) for every cell of [offset, offset + bytes). `overwrites`: the access
  /// replaces what the cells hold.
  template <class Visit>
  void visit(std::uint64_t offset, std::uint32_t bytes, bool overwrites, ReadSets& sets,
             Visit visit) {
    const std::uint64_t end = offset + bytes;
    while (offset < end) {
      const std::uint64_t line = offset / kLine, next = std::min(end, (line + 1) * kLine);
      const bool all = next - offset == kLine;
      if (all && split_[line] == 0) {
        visit(whole_[line]);
      } else {
        Cell* const cells = cells_of(line, sets);
        const auto first = static_cast<std::uint32_t>(offset % kLine) / granule_;
        const auto count = (static_cast<std::uint32_t>(next - offset) + granule_ - 1) / granule_;
        for (std::uint32_t i = first; i < first + count; ++i) visit(cells[i]);
        if (all && overwrites) unite(line);
      }
      offset = next;
    }
  }

  /// Calls visit(cell) for all cells.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t line = 0; line < whole_.size(); ++line) {
      if (split_[line] == 0) {
        visit(whole_[line]);
        continue;
      }
      for (std::uint32_t i = 0; i < kLine / granule_; ++i) visit(pool_[split_[line] - 1][i]);
    }
  }

 private:
  Cell* cells_of(std::uint64_t line, ReadSets& sets);
  void unite(std::uint64_t line) {
    whole_[line] = pool_[split_[line] - 1][0];
    free_.push_back(split_[line]);
    split_[line] = 0;
  }

  std::uint32_t granule_;
  std::vector<Cell> whole_;
  std::vector<std::uint32_t> split_;  // 0: the line is whole; else 1 + index into pool_
  std::vector<std::unique_ptr<Cell[]>> pool_;
  std::vector<std::uint32_t> free_;
};

/// Global memory, by pages that appear when they are touched.
class GlobalShadow {
 public:
  static constexpr std::uint64_t kPage = 4096;
  explicit GlobalShadow(std::uint32_t granule) : granule_(granule) {}

  ShadowLines& page(std::uint64_t address) {
    const std::uint64_t number = address / kPage;
    if (number != last_number_ || !last_) {
      auto& page = pages_[number];
      if (!page) page = std::make_unique<ShadowLines>(kPage, granule_);
      last_number_ = number;
      last_ = page.get();
    }
    return *last_;
  }

  /// Calls part(page, address, bytes) for every page that a stretch touches.
  template <class Part>
  void each_part(std::uint64_t address, std::uint32_t bytes, Part part) {
    while (bytes > 0) {
      const auto some =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kPage - address % kPage));
      part(page(address), address, some);
      address += some;
      bytes -= some;
    }
  }

 private:
  std::uint32_t granule_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ShadowLines>> pages_;
  std::uint64_t last_number_ = 0;
  ShadowLines* last_ = nullptr;
};

/// Asynchronous accesses under way to shared memory, in words of 4 bytes.
class FlightMap {
 public:
  struct Word {
    std::uint16_t reads = 0, writes = 0;
    std::uint16_t thread = 0;
    std::uint32_t site = 0;
  };
  explicit FlightMap(std::uint64_t bytes) : words_((bytes + 3) / 4) {}
  Word& at(std::uint64_t address) { return words_[address / 4]; }
  [[nodiscard]] bool any() const { return open_ != 0; }
  /// Calls visit(address, word) for all words.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word) visit(4 * word, words_[word]);
  }
  void opened(std::int64_t count) { open_ += count; }

 private:
  std::vector<Word> words_;
  std::int64_t open_ = 0;
};

}  // namespace halftone::simulator
