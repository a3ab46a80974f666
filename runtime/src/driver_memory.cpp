// SPDX-License-Identifier: Apache-2.0
#include "driver_memory.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "execution.hpp"
#include "halftone/error.hpp"
#include "text.hpp"
#include "workspace.hpp"

namespace halftone {

using manifest::Role;

DriverMemory::DriverMemory(const ProgramPlan& plan, DriverContext& context, DriverStream stream,
                           std::span<const std::size_t> kernels)
    : plan_(plan),
      context_(context),
      stream_(stream),
      buffers_(plan.program().buffers.size()),
      kept_(plan.program().buffers.size()),
      workspaces_(plan.manifest().kernels.size()) {
  std::vector<Request> requests = buffer_requests(false);
  for (auto more : {kept_requests(), workspace_requests(kernels)}) {
    requests.insert(requests.end(), more.begin(), more.end());
  }
  for (const Request& request : requests) predicted_ += request.bytes;
  allocate(requests);
  for (std::size_t kernel : kernels) zero_workspace(kernel);
}

void DriverMemory::allocate_accumulated() {
  if (accumulated_) return;
  const std::vector<Request> requests = buffer_requests(true);
  allocate(requests);
  for (const Request& request : requests) predicted_ += request.bytes;
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
    if ((buffer.role == Role::accumulated) != accumulated) continue;
    whole.places.emplace_back(&buffers_[i],
                              arena.slot_offsets[static_cast<std::size_t>(buffer.slot)]);
    // What kernels must write before they read it stays as it is, so that a fault shows.
    const bool zero = buffer.role != Role::activation && buffer.role != Role::working_copies;
    separate.push_back({plan_.bytes(i), buffer.name, zero, {{&buffers_[i], 0}}});
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

std::vector<DriverMemory::Request> DriverMemory::workspace_requests(
    std::span<const std::size_t> kernels) {
  const manifest::CudaTarget& target = *plan_.target();
  std::vector<Request> separate;
  Request whole{.bytes = 0, .name = "workspace"};
  try {
    const WorkspaceLayout layout = plan_workspaces(target, kernels, plan_.symbols());
    whole.bytes = layout.bytes;
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

/// All of them, or none.
void DriverMemory::allocate(const std::vector<Request>& requests) {
  std::vector<OwnedMemory> pieces;
  std::int64_t bytes = 0;
  for (const Request& request : requests) {
    DeviceAddress address = 0;
    const DriverStatus status = context_.attempt(plan_.who(), [&](Driver& driver) {
      return driver.allocate(request.bytes, request.name, address);
    });
    if (status.kind == DriverStatus::Kind::out_of_memory) plan_.refuse_bytes(request.bytes);
    context_.check(plan_.who(), named("buffer", request.name), status);
    pieces.emplace_back(context_.driver(), address);
    bytes += request.bytes;
    for (const auto& [place, offset] : request.places) {
      *place = address + static_cast<DeviceAddress>(offset);
    }
    if (request.zero) fill(address, request.bytes, request.name);
  }
  std::ranges::move(pieces, std::back_inserter(pieces_));
  measured_ += bytes;
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
