// SPDX-License-Identifier: Apache-2.0
// Pools, upsampling, padding and blocks of places: their numbers, options, and what they read.
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

// EXPECT pool_elements: layer 'pool' has windows of 288 elements: give them 256 or fewer
namespace pool_elements {
constexpr auto net = model("net", inputs(tensor("x", batch, 20, 20, 8)),
                           from("x") | avg_pool2d("pool", kernel(16, either(18, 16))) | output("z"));
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

// EXPECT pool_between: layer 'pool' has a window that begins at place -1 and steps over all 9 of
// [batch, 9, 8] by its dilation of 10: make that 9 or less
namespace pool_between {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | max_pool1d("pool", 2, dilation(either(10, 9)), padding(9), stride(1)) |
              output("z"));
MODEL(net, rules)
}  // namespace pool_between

// EXPECT pool_symbol: layer 'pool' reads [batch, time, 8], whose spatial dimension 'time' is no
// multiple of the stride 2: give it a number, or a symbol taken so often that it is one
namespace pool_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either(symbol("time"), 2 * symbol("time")), 8)),
          from("x") | max_pool1d("pool", 2) | output("z"));
MODEL(net, rules)
}  // namespace pool_symbol

// EXPECT pool_windows_of_symbol: layer 'pool' reads [batch, 6*time, 8], whose spatial dimension
// '6*time' would not have '2*time' windows: give it a number, or a padding of 1 to 3 for both sides
// together, as same has
namespace pool_windows_of_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 6 * symbol("time"), 8)),
          from("x") | max_pool1d("pool", 4, stride(3), padding(0, either(0, 1))) | output("z"));
MODEL(net, rules)
}  // namespace pool_windows_of_symbol

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

// EXPECT upsample_symbol: layer 'up' makes 5 places of each of 16384*time: let a symbol be taken
// 65536 times or less
namespace upsample_symbol {
constexpr auto net = model("net", inputs(tensor("x", batch, 16384 * symbol("time"), 9, 8)),
                           from("x") | upsample2d("up", factor(either(5, 4), 2)) | output("z"));
MODEL(net, rules)
}  // namespace upsample_symbol

// EXPECT pad1d_none: pad1d takes a name, padding() of one or two numbers, and one of reflect,
// replicate, circular and pad_value(): write pad1d("pad", padding(1), reflect)
namespace pad1d_none {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") | either(pad1d("pad", reflect), pad1d("pad", padding(1), reflect)) | output("z"));
MODEL(net, rules)
}  // namespace pad1d_none

// EXPECT pad2d_two_modes: pad2d takes a name, padding() of one, two or four numbers, and one of
// reflect, replicate, circular and pad_value(): write pad2d("pad", padding(1), reflect)
namespace pad2d_two_modes {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") |
                               either(pad2d("pad", padding(1), reflect, pad_value(1)),
                                      pad2d("pad", padding(1, 2, 0, 0), pad_value(1))) |
                               output("z"));
MODEL(net, rules)
}  // namespace pad2d_two_modes

// EXPECT pad3d_numbers: pad3d takes a name, padding() of one, three or six numbers, and one of
// reflect, replicate, circular and pad_value(): write pad3d("pad", padding(1), reflect)
namespace pad3d_numbers {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 9, 8)),
    from("x") |
        either(pad3d("pad", circular, padding(1, 1)), pad3d("pad", circular, padding(1, 1, 0))) |
        output("z"));
MODEL(net, rules)
}  // namespace pad3d_numbers

// EXPECT bare_pad2d: pad2d takes a name, padding() of one, two or four numbers, and one of reflect,
// replicate, circular and pad_value(): write pad2d("pad", padding(1), reflect)
namespace bare_pad2d {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | MISSPELT(pad2d, pad2d("pad", padding(1))) | output("z"));
MODEL(net, rules)
}  // namespace bare_pad2d

// EXPECT pad_sides: layer 'pad' has a padding that is not from -65536 to 65536: write padding(1)
namespace pad_sides {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | pad1d("pad", padding(either(65537, 65536), -3)) | output("z"));
MODEL(net, rules)
}  // namespace pad_sides

// EXPECT pad_value_infinite: layer 'pad' has a pad_value that is not finite in f32: write
// pad_value(1)
namespace pad_value_infinite {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | pad1d("pad", padding(1), pad_value(either(1e39, 1e38))) | output("z"));
MODEL(net, rules)
}  // namespace pad_value_infinite

// EXPECT pad_dimensions: layer 'pad' reads [batch, 8] but pads 2 dimensions before the channels:
// give its input 3 dimensions or more
namespace pad_dimensions {
constexpr auto net = model("net", inputs(either(tensor("x", batch, 8), tensor("x", 9, 9, 8))),
                           from("x") | pad2d("pad", padding(1)) | output("z"));
MODEL(net, rules)
}  // namespace pad_dimensions

// EXPECT pad_symbol: layer 'pad' has a padding of 33 at a dimension of time + 2, replicate: make it
// 32 or less
namespace pad_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 9, 8)),
          from("x") | pad2d("first", padding(1, 0), reflect) |
              pad2d("pad", padding(either(33, 32), 2), replicate) | output("z"));
MODEL(net, rules)
}  // namespace pad_symbol

// EXPECT pad_cuts_all: layer 'pad' cuts 9 elements of 9 of [batch, 9, 8]: leave one or more
namespace pad_cuts_all {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | pad1d("pad", padding(-5, either(-4, -3))) | output("z"));
MODEL(net, rules)
}  // namespace pad_cuts_all

// EXPECT pad_reflects_too_many: layer 'pad' has a padding of 9 at a dimension of 9, reflect: make
// it 8 or less
namespace pad_reflects_too_many {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | pad1d("pad", padding(either(9, 8), 1), reflect) | output("z"));
MODEL(net, rules)
}  // namespace pad_reflects_too_many

// EXPECT pad_repeats_too_many: layer 'pad' has a padding of 33 at a dimension of 9, replicate: make
// it 32 or less
namespace pad_repeats_too_many {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | pad1d("pad", padding(0, either(33, 32)), replicate) | output("z"));
MODEL(net, rules)
}  // namespace pad_repeats_too_many

// EXPECT pad_goes_round_twice: layer 'pad' has a padding of 10 at a dimension of 9, circular: make
// it 9 or less
namespace pad_goes_round_twice {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | pad1d("pad", padding(0, either(10, 9)), circular) | output("z"));
MODEL(net, rules)
}  // namespace pad_goes_round_twice

// EXPECT pixel_shuffle_half: pixel_shuffle takes a name and a whole number, or factor() of as many
// as dimensions: write pixel_shuffle("up", 2)
namespace pixel_shuffle_half {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 9, 8)),
          from("x") | either(pixel_shuffle("up", 1.5), pixel_shuffle("up", 2)) | output("z"));
MODEL(net, rules)
}  // namespace pixel_shuffle_half

// EXPECT pixel_unshuffle_four: pixel_unshuffle takes a name and a whole number, or factor() of as
// many as dimensions: write pixel_unshuffle("down", 2)
namespace pixel_unshuffle_four {
constexpr auto net = model("net", inputs(tensor("x", batch, 4, 4, 4, 8)),
                           from("x") |
                               either(pixel_unshuffle("down", factor(2, 2, 2, 2)),
                                      pixel_unshuffle("down", factor(2, 2, 2))) |
                               output("z"));
MODEL(net, rules)
}  // namespace pixel_unshuffle_four

// EXPECT shuffle_factor: layer 'up' has a factor that is not from 1 to 65536: write 2
namespace shuffle_factor {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | pixel_shuffle("up", either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace shuffle_factor

// EXPECT unshuffle_symbol: layer 'down' makes channels of 2 places each of a dimension of 3*time:
// make that a multiple
namespace unshuffle_symbol {
constexpr auto net = model("net", inputs(tensor("x", batch, 3 * symbol("time"), 9, 8)),
                           from("x") | pixel_unshuffle("down", factor(either(2, 3), 1)) |
                               output("z"));
MODEL(net, rules)
}  // namespace unshuffle_symbol

// EXPECT shuffle_dimensions: layer 'up' reads [batch, 8] but shuffles 2 dimensions before the
// channels: give its input 3 dimensions or more
namespace shuffle_dimensions {
constexpr auto net = model("net", inputs(either(tensor("x", batch, 8), tensor("x", 9, 9, 8))),
                           from("x") | pixel_shuffle("up", 2) | output("z"));
MODEL(net, rules)
}  // namespace shuffle_dimensions

// EXPECT shuffle_channels: layer 'up' makes 6 places of every so many of 8 channels: make them a
// multiple
namespace shuffle_channels {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | pixel_shuffle("up", factor(2, either(3, 4))) | output("z"));
MODEL(net, rules)
}  // namespace shuffle_channels

// EXPECT unshuffle_places: layer 'down' makes channels of 2 places each of a dimension of 9: make
// that a multiple
namespace unshuffle_places {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 9, 8)),
          from("x") | pixel_unshuffle("down", factor(3, either(2, 1))) | output("z"));
MODEL(net, rules)
}  // namespace unshuffle_places

// EXPECT adaptive_of_none: layer 'pool' has a size that is not from 1 to 65536: write 7
namespace adaptive_of_none {
constexpr auto net = model("net", inputs(tensor("x", batch, 90, 8)),
                           from("x") | adaptive_avg_pool1d("pool", either(0, 2)) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_of_none

// EXPECT adaptive_beyond: layer 'pool' has a size that is not from 1 to 65536: write 7
namespace adaptive_beyond {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 90, 8)),
          from("x") | adaptive_avg_pool1d("pool", either(9223372036854775807, 2)) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_beyond

// EXPECT adaptive_max_pool1d_sizes: adaptive_max_pool1d takes a name and a whole number of windows:
// write adaptive_max_pool1d("pool", 7)
namespace adaptive_max_pool1d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | either(adaptive_max_pool1d("pool", 2, 2), adaptive_max_pool1d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_max_pool1d_sizes

// EXPECT adaptive_max_pool2d_sizes: adaptive_max_pool2d takes a name and one or two whole numbers
// of windows: write adaptive_max_pool2d("pool", 7)
namespace adaptive_max_pool2d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 9, 8)),
          from("x") | either(adaptive_max_pool2d("pool", 2, 2, 2), adaptive_max_pool2d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_max_pool2d_sizes

// EXPECT adaptive_max_pool3d_sizes: adaptive_max_pool3d takes a name and one or three whole numbers
// of windows: write adaptive_max_pool3d("pool", 7)
namespace adaptive_max_pool3d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 3, 3, 3, 8)),
          from("x") | either(adaptive_max_pool3d("pool", 2.5), adaptive_max_pool3d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_max_pool3d_sizes

// EXPECT adaptive_avg_pool1d_sizes: adaptive_avg_pool1d takes a name and a whole number of windows:
// write adaptive_avg_pool1d("pool", 7)
namespace adaptive_avg_pool1d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | either(adaptive_avg_pool1d("pool", 2, 2), adaptive_avg_pool1d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_avg_pool1d_sizes

// EXPECT adaptive_avg_pool2d_sizes: adaptive_avg_pool2d takes a name and one or two whole numbers
// of windows: write adaptive_avg_pool2d("pool", 7)
namespace adaptive_avg_pool2d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 9, 8)),
          from("x") | either(adaptive_avg_pool2d("pool", 2, 2, 2), adaptive_avg_pool2d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_avg_pool2d_sizes

// EXPECT adaptive_avg_pool3d_sizes: adaptive_avg_pool3d takes a name and one or three whole numbers
// of windows: write adaptive_avg_pool3d("pool", 7)
namespace adaptive_avg_pool3d_sizes {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 3, 3, 3, 8)),
          from("x") | either(adaptive_avg_pool3d("pool", 2.5), adaptive_avg_pool3d("pool", 2)) |
              output("z"));
MODEL(net, rules)
}  // namespace adaptive_avg_pool3d_sizes

// EXPECT adaptive_size: layer 'pool' has a size that is not from 1 to 65536: write 7
namespace adaptive_size {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | adaptive_avg_pool1d("pool", either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_size

// EXPECT adaptive_symbol: layer 'pool' makes 2 windows of '99*time' places: give it a number, or a
// symbol taken fewer times, so that its windows have 12 elements or fewer
namespace adaptive_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, either(99, 20) * symbol("time"), 9, 8)),
          from("x") | adaptive_max_pool2d("pool", 2) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_symbol

// EXPECT adaptive_dimensions: layer 'pool' reads [batch, 8] but pools 2 dimensions before the
// channels: give its input 3 dimensions or more
namespace adaptive_dimensions {
constexpr auto net = model("net", inputs(either(tensor("x", batch, 8), tensor("x", 9, 9, 8))),
                           from("x") | adaptive_max_pool2d("pool", 2) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_dimensions

// EXPECT adaptive_elements: layer 'pool' has windows of 72 elements: give them 64 or fewer
namespace adaptive_elements {
constexpr auto net = model("net", inputs(tensor("x", batch, 8, either(9, 8), 8)),
                           from("x") | adaptive_avg_pool2d("pool", 1) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_elements

// EXPECT adaptive_windows: layer 'pool' has elements of 65 windows: give them 64 or fewer
namespace adaptive_windows {
constexpr auto net = model("net", inputs(tensor("x", batch, 1, 8)),
                           from("x") | adaptive_avg_pool1d("pool", either(65, 64)) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_windows

// EXPECT adaptive_places: layer 'pool' makes 65536 windows of 32768 places: let their product be
// 2147483647 or less
namespace adaptive_places {
constexpr auto net = model("net", inputs(tensor("x", batch, either(32768, 32767), 8)),
                           from("x") | adaptive_avg_pool1d("pool", 65536) | output("z"));
MODEL(net, rules)
}  // namespace adaptive_places
