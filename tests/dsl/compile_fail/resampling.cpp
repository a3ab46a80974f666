// SPDX-License-Identifier: Apache-2.0
// Pools and upsampling: their numbers, options, and what they read.
#include <cases.hpp>

// EXPECT max_pool1d_kernel: max_pool1d takes a name, whole numbers of the kernel, and stride(),
// dilation() and padding() or same, each at most once and with a number or as many as dimensions:
// write max_pool1d("pool", 2)
namespace max_pool1d_kernel {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | either(max_pool1d("pool"), max_pool1d("pool", 3)) | output("z"));
MODEL(net, rules)
}  // namespace max_pool1d_kernel

// EXPECT max_pool2d_groups: max_pool2d takes a name, whole numbers of the kernel, and stride(),
// dilation() and padding() or same, each at most once and with a number or as many as dimensions:
// write max_pool2d("pool", 2)
namespace max_pool2d_groups {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") |
                               either(max_pool2d("pool", 3, groups(2)),
                                      max_pool2d("pool", kernel(3, 2), dilation(2), same)) |
                               output("z"));
MODEL(net, rules)
}  // namespace max_pool2d_groups

// EXPECT max_pool3d_padding: max_pool3d takes a name, whole numbers of the kernel, and stride(),
// dilation() and padding() or same, each at most once and with a number or as many as dimensions:
// write max_pool3d("pool", 2)
namespace max_pool3d_padding {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 9, 8)),
    from("x") |
        either(max_pool3d("pool", 3, same, padding(1)), max_pool3d("pool", 3, padding(1, 0, 1))) |
        output("z"));
MODEL(net, rules)
}  // namespace max_pool3d_padding

// EXPECT avg_pool1d_dilation: avg_pool1d takes a name, whole numbers of the kernel, and stride(),
// padding() or same, and exclude_padding, each at most once and with a number or as many as
// dimensions: write avg_pool1d("pool", 2)
namespace avg_pool1d_dilation {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") |
        either(avg_pool1d("pool", 3, dilation(2)), avg_pool1d("pool", 3, stride(2), padding(1))) |
        output("z"));
MODEL(net, rules)
}  // namespace avg_pool1d_dilation

// EXPECT avg_pool2d_twice: avg_pool2d takes a name, whole numbers of the kernel, and stride(),
// padding() or same, and exclude_padding, each at most once and with a number or as many as
// dimensions: write avg_pool2d("pool", 2)
namespace avg_pool2d_twice {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") |
                               either(avg_pool2d("pool", 3, exclude_padding, same, exclude_padding),
                                      avg_pool2d("pool", 3, exclude_padding, same)) |
                               output("z"));
MODEL(net, rules)
}  // namespace avg_pool2d_twice

// EXPECT avg_pool3d_numbers: avg_pool3d takes a name, whole numbers of the kernel, and stride(),
// padding() or same, and exclude_padding, each at most once and with a number or as many as
// dimensions: write avg_pool3d("pool", 2)
namespace avg_pool3d_numbers {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 9, 8)),
    from("x") | either(avg_pool3d("pool", kernel(3, 3)), avg_pool3d("pool", kernel(3, 3, 1))) |
        output("z"));
MODEL(net, rules)
}  // namespace avg_pool3d_numbers

// EXPECT bare_max_pool2d: max_pool2d takes a name, whole numbers of the kernel, and stride(),
// dilation() and padding() or same, each at most once and with a number or as many as dimensions:
// write max_pool2d("pool", 2)
namespace bare_max_pool2d {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | MISSPELT(max_pool2d, max_pool2d("pool", 3)) | output("z"));
MODEL(net, rules)
}  // namespace bare_max_pool2d

// EXPECT upsample1d_mode: upsample1d takes a name, a whole number or factor() of as many as
// dimensions, and linearly: write upsample1d("up", 2)
namespace upsample1d_mode {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") | either(upsample1d("up", 2, bilinear), upsample1d("up", 2, linearly)) | output("z"));
MODEL(net, rules)
}  // namespace upsample1d_mode

// EXPECT upsample2d_half: upsample2d takes a name, a whole number or factor() of as many as
// dimensions, and bilinear: write upsample2d("up", 2)
namespace upsample2d_half {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 8)),
    from("x") | either(upsample2d("up", factor(1.5, 2)), upsample2d("up", factor(1, 2), bilinear)) |
        output("z"));
MODEL(net, rules)
}  // namespace upsample2d_half

// EXPECT upsample3d_numbers: upsample3d takes a name, a whole number or factor() of as many as
// dimensions, and trilinear: write upsample3d("up", 2)
namespace upsample3d_numbers {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 4, 4, 4, 8)),
          from("x") |
              either(upsample3d("up", factor(1, 2)), upsample3d("up", factor(1, 2, 1), trilinear)) |
              output("z"));
MODEL(net, rules)
}  // namespace upsample3d_numbers

// EXPECT pool_kernel: layer 'pool' has a kernel that is not from 1 to 65536: write 3
namespace pool_kernel {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | max_pool1d("pool", either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace pool_kernel

// EXPECT pool_stride: layer 'pool' has a stride that is not from 1 to 65536: write stride(2)
namespace pool_stride {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | avg_pool1d("pool", 3, stride(either(0, 1))) | output("z"));
MODEL(net, rules)
}  // namespace pool_stride

// EXPECT pool_elements: layer 'pool' has windows of 72 elements: give them 64 or fewer
namespace pool_elements {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | avg_pool2d("pool", kernel(8, either(9, 8))) | output("z"));
MODEL(net, rules)
}  // namespace pool_elements

// EXPECT pool_padding: layer 'pool' has a padding of 3 for a window of 3: make it smaller than the
// window
namespace pool_padding {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | max_pool1d("pool", 3, padding(0, either(3, 2))) | output("z"));
MODEL(net, rules)
}  // namespace pool_padding

// EXPECT pool_symbol: layer 'pool' reads [batch, time, 8], whose spatial dimension 'time' would not
// keep its length: give it a number, or write same and no stride
namespace pool_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 8)),
          from("x") | either(max_pool1d("pool", 2), max_pool1d("pool", 2, stride(1), same)) |
              output("z"));
MODEL(net, rules)
}  // namespace pool_symbol

// EXPECT upsample_factor: layer 'up' has a factor that is not from 1 to 8: write 2
namespace upsample_factor {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | upsample1d("up", either(9, 8)) | output("z"));
MODEL(net, rules)
}  // namespace upsample_factor

// EXPECT upsample_elements: layer 'up' makes 80 elements of one: make them 64 or fewer
namespace upsample_elements {
constexpr auto net = model("net", inputs(tensor("x", batch, 2, 2, 2, 8)),
                           from("x") | upsample3d("up", factor(4, 4, either(5, 4))) | output("z"));
MODEL(net, rules)
}  // namespace upsample_elements

// EXPECT upsample_dimensions: layer 'up' reads [batch, 8] but stretches 2 dimensions before the
// channels: give its input 3 dimensions or more
namespace upsample_dimensions {
constexpr auto net = model("net", inputs(either(tensor("x", batch, 8), tensor("x", 9, 9, 8))),
                           from("x") | upsample2d("up", 2) | output("z"));
MODEL(net, rules)
}  // namespace upsample_dimensions

// EXPECT upsample_symbol: layer 'up' reads [batch, time, 9, 8], whose spatial dimension 'time' is a
// symbol: give it a number
namespace upsample_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 9, 8)),
          from("x") | either(upsample2d("up", factor(1, 2)), upsample1d("up", 2)) | output("z"));
MODEL(net, rules)
}  // namespace upsample_symbol
