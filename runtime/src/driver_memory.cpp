// SPDX-License-Identifier: Apache-2.0
#include "driver_memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "execution.hpp"
#include "halftone/error.hpp"
#include "stage_memory.hpp"
#include "text.hpp"
#include "workspace.hpp"

namespace halftone {

using manifest::Role;

namespace {

constexpr const char* kWorkspace = "workspace";

/// Of parts on the device.
constexpr std::int64_t kPartAlignment = 256;

}  // namespace

DriverMemory::DriverMemory(const ProgramPlan& plan, DriverContext& context, DriverStream stream,
                           std::span<const std::size_t> kernels, std::int64_t workspace_bytes,
                           const DriverMemory* shares)
    : plan_(plan),
      context_(context),
      stream_(stream),
      buffers_(plan.program().buffers.size()),
      kept_(plan.program().buffers.size()),
      workspaces_(plan.manifest().kernels.size()),
      host_(plan.program().buffers.size()),
      pieces_(shares ? shares->pieces_ : std::make_shared<Pieces>()),
      workspace_bytes_(workspace_bytes) {
  for (auto& parts : parts_) parts.resize(buffers_.size());
  allocate_host();
  std::vector<Request> requests = buffer_requests(false);
  for (auto more : {kept_requests(), part_requests(), workspace_requests(kernels)}) {
    requests.insert(requests.end(), more.begin(), more.end());
  }
  const std::int64_t predicted = bytes_of_new(requests);
  allocate(requests);
  pieces_->predicted += predicted;
  for (std::size_t kernel : kernels) zero_workspace(kernel);
}

void DriverMemory::zero_workspaces(std::span<const std::size_t> kernels) {
  // Where buffers lie apart a piece of that name is a buffer of the model's.
  const auto whole = context_.properties().separate_buffers ? pieces_->by_key.end()
                                                            : pieces_->by_key.find(kWorkspace);
  if (whole == pieces_->by_key.end()) {
    for (std::size_t kernel : kernels) zero_workspace(kernel);
  } else {
    fill(whole->second.memory.get(), whole->second.bytes, kWorkspace);
  }
}

void DriverMemory::allocate_accumulated() {
  if (accumulated_) return;
  const std::vector<Request> requests = buffer_requests(true);
  const std::int64_t predicted = bytes_of_new(requests);
  allocate(requests);
  pieces_->predicted += predicted;
  accumulated_ = true;
}

DeviceAddress DriverMemory::workspace(std::size_t kernel,
                                      std::span<const std::int64_t> symbols) const {
  const std::int64_t shift =
      workspace_shift(plan_.target()->kernels[kernel], plan_.symbols(), symbols);
  return workspaces_[kernel] + static_cast<DeviceAddress>(shift);
}

/// What holds the accumulated buffers, or all others.
std::vector<DriverMemory::Request> DriverMemory::buffer_requests(bool accumulated) {
  const manifest::ArenaPlan& arena = plan_.arena();
  std::vector<Request> separate;
  Request whole{.bytes = accumulated ? arena.accumulated_bytes : arena.bytes,
                .name = accumulated ? "accumulated" : "arena"};
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const manifest::Buffer& buffer = plan_.buffer(i);
    if ((buffer.role == Role::accumulated) != accumulated || plan_.lies_in_host(i)) continue;
    whole.places.emplace_back(&buffers_[i],
                              arena.slot_offsets[static_cast<std::size_t>(buffer.slot)]);
    // What kernels must write before they read it stays as it is, so that a fault shows.
    const bool zero = buffer.role != Role::activation && buffer.role != Role::working_copies;
    separate.push_back(
        {plan_.bytes(i), buffer.name, zero, {{&buffers_[i], 0}}, shared_name(plan_, i)});
  }
  if (context_.properties().separate_buffers) return separate;
  return whole.bytes > 0 ? std::vector{whole} : std::vector<Request>{};
}

std::vector<DriverMemory::Request> DriverMemory::kept_requests() {
  std::vector<Request> requests;
  for (std::size_t i : kept_buffers(plan_)) {
    requests.push_back({plan_.bytes(i), "kept " + plan_.buffer(i).name, true, {{&kept_[i], 0}}});
  }
  return requests;
}

/// For each place and buffer what the largest part takes.
std::vector<DriverMemory::Request> DriverMemory::part_requests() {
  std::vector<std::int64_t> largest(buffers_.size());
  for (const manifest::Launch& launch : plan_.launches(manifest::Phase::update)) {
    for (const manifest::Argument& argument : launch.arguments) {
      const auto i = static_cast<std::size_t>(argument.buffer);
      if (!plan_.lies_in_host(i)) continue;
      largest[i] =
          std::max(largest[i], manifest::bytes_of(plan_.buffer(i).encoding, argument.seen));
    }
  }
  std::vector<Request> separate;
  Request whole{.bytes = 0, .name = "parts of the host's memory", .zero = false};
  for (std::size_t place = 0; place < Transfers::kPlaces; ++place) {
    for (std::size_t i = 0; i < largest.size(); ++i) {
      if (largest[i] == 0) continue;
      whole.places.emplace_back(&parts_[place][i], whole.bytes);
      whole.bytes += (largest[i] + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
      separate.push_back({largest[i],
                          "part " + std::to_string(place) + " of " + plan_.buffer(i).name,
                          false,
                          {{&parts_[place][i], 0}}});
    }
  }
  if (context_.properties().separate_buffers) return separate;
  return whole.bytes > 0 ? std::vector{whole} : std::vector<Request>{};
}

/// Zeros. Plans that run in turn have the same there (P71).
void DriverMemory::allocate_host() {
  const manifest::ArenaPlan& arena = plan_.arena();
  if (arena.host_bytes == 0) return;
  if (!pieces_->host) {
    std::byte* memory = nullptr;
    context_.run(plan_.who(),
                 std::to_string(arena.host_bytes) + " bytes of page-locked host memory",
                 [&](Driver& driver) { return driver.allocate_host(arena.host_bytes, memory); });
    pieces_->host = OwnedHostMemory(context_.driver(), memory);
    std::memset(memory, 0, static_cast<std::size_t>(arena.host_bytes));
  }
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (!plan_.lies_in_host(i)) continue;
    host_[i] =
        pieces_->host.get() + arena.slot_offsets[static_cast<std::size_t>(plan_.buffer(i).slot)];
  }
}

HostPart DriverMemory::part(const manifest::Argument& argument, std::size_t place) const {
  const auto i = static_cast<std::size_t>(argument.buffer);
  const manifest::Buffer& buffer = plan_.buffer(i);
  return {.host = host_[i] + manifest::bytes_of(buffer.encoding, argument.offset),
          .device = parts_[place][i],
          .bytes = manifest::bytes_of(buffer.encoding, argument.seen),
          .buffer = buffer.name};
}

std::vector<HostStay> DriverMemory::stays() const {
  std::vector<HostStay> stays;
  const std::vector<manifest::Stay>& planned = plan_.program().stays;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto buffer = static_cast<std::size_t>(planned[i].buffer);
    const auto back = static_cast<std::size_t>(planned[i].back);
    stays.push_back({.buffer = buffer,
                     .back = back,
                     .from = buffers_[buffer],
                     .to = buffers_[back],
                     .host = pieces_->host.get() + plan_.arena().stay_offsets[i],
                     .name = plan_.buffer(buffer).name});
  }
  return stays;
}

std::vector<DriverMemory::Request> DriverMemory::workspace_requests(
    std::span<const std::size_t> kernels) {
  const manifest::CudaTarget& target = *plan_.target();
  std::vector<Request> separate;
  Request whole{.bytes = 0, .name = kWorkspace};
  try {
    const WorkspaceLayout layout = plan_workspaces(target, kernels, plan_.symbols());
    whole.bytes = std::max(layout.bytes, workspace_bytes_);
    for (std::size_t kernel : kernels) {
      if (layout.offsets[kernel] < 0) continue;
      whole.places.emplace_back(&workspaces_[kernel], layout.offsets[kernel]);
      separate.push_back({manifest::plan_workspace(target.kernels[kernel], plan_.symbols()).bytes,
                          "workspace of " + plan_.manifest().kernels[kernel].name,
                          false,
                          {{&workspaces_[kernel], 0}}});
    }
  } catch (const std::overflow_error&) {
    plan_.refuse_size("needs more than 2^62 bytes of memory");
  }
  if (context_.properties().separate_buffers) return separate;
  return whole.bytes > 0 ? std::vector{whole} : std::vector<Request>{};
}

/// Without what is there for another plan.
std::int64_t DriverMemory::bytes_of_new(const std::vector<Request>& requests) const {
  std::int64_t bytes = 0;
  for (const Request& request : requests) {
    if (!pieces_->find(request.shared_key(), request.bytes)) bytes += request.bytes;
  }
  return bytes;
}

/// All of them, or none. What another plan has under a key and is as large is taken as it is.
void DriverMemory::allocate(const std::vector<Request>& requests) {
  std::multimap<std::string, Pieces::Piece> pieces;
  for (const Request& request : requests) {
    const std::string& key = request.shared_key();
    const Pieces::Piece* known = pieces_->find(key, request.bytes);
    if (!known) {
      const std::string what = named("buffer", request.name);  // from here to its owner none throws
      DeviceAddress address = 0;
      const DriverStatus status = context_.attempt(plan_.who(), [&](Driver& driver) {
        return driver.allocate(request.bytes, request.name, address);
      });
      if (status.kind == DriverStatus::Kind::out_of_memory) plan_.refuse_bytes(request.bytes);
      context_.check(plan_.who(), what, status);
      known =
          &pieces.emplace(key, Pieces::Piece{{context_.driver(), address}, request.bytes})->second;
      if (request.zero) fill(address, request.bytes, request.name);
    }
    for (const auto& [place, offset] : request.places) {
      *place = known->memory.get() + static_cast<DeviceAddress>(offset);
    }
  }
  for (const auto& [key, piece] : pieces) pieces_->measured += piece.bytes;
  pieces_->by_key.merge(pieces);
}

const DriverMemory::Pieces::Piece* DriverMemory::Pieces::find(const std::string& key,
                                                              std::int64_t bytes) const {
  const auto [begin, end] = by_key.equal_range(key);
  const auto found =
      std::find_if(begin, end, [&](const auto& known) { return known.second.bytes >= bytes; });
  return found == end ? nullptr : &found->second;
}

/// The parts that must hold zeros, where the workspace as a whole was not filled.
void DriverMemory::zero_workspace(std::size_t kernel) {
  if (!context_.properties().separate_buffers || workspaces_[kernel] == 0) return;
  const manifest::CudaKernel& cuda = plan_.target()->kernels[kernel];
  const manifest::WorkspacePlan plan = manifest::plan_workspace(cuda, plan_.symbols());
  for (std::size_t i = 0; i < cuda.workspace.size(); ++i) {
    const std::int64_t end = i + 1 < plan.offsets.size() ? plan.offsets[i + 1] : plan.bytes;
    if (!cuda.workspace[i].zeroed) continue;
    fill(workspaces_[kernel] + static_cast<DeviceAddress>(plan.offsets[i]), end - plan.offsets[i],
         "workspace");
  }
}

void DriverMemory::fill(DeviceAddress address, std::int64_t bytes, const std::string& name) {
  context_.run(plan_.who(), named("buffer", name),
               [&](Driver& driver) { return driver.fill(address, std::byte{0}, bytes, stream_); });
}

}  // namespace halftone
