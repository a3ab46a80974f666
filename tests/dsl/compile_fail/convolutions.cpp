// SPDX-License-Identifier: Apache-2.0
// Windows: their numbers, what they slide over, and groups of channels.
#include <cases.hpp>

// EXPECT conv1d_kernel: conv1d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv1d("conv", 64, 3)
namespace conv1d_kernel {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | either(conv1d("conv", 4), conv1d("conv", 4, 3)) | output("z"));
MODEL(net, rules)
}  // namespace conv1d_kernel

// EXPECT conv2d_numbers: conv2d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv2d("conv", 64, 3)
namespace conv2d_numbers {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 8)),
    from("x") | either(conv2d("conv", 4, 3, stride(1, 2, 1)), conv2d("conv", 4, 3, stride(1, 2))) |
        output("z"));
MODEL(net, rules)
}  // namespace conv2d_numbers

// EXPECT conv3d_padding: conv3d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv3d("conv", 64, 3)
namespace conv3d_padding {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 9, 8)),
    from("x") |
        either(conv3d("conv", 4, 3, same, padding(1)), conv3d("conv", 4, kernel(3, 1, 3), same)) |
        output("z"));
MODEL(net, rules)
}  // namespace conv3d_padding

// EXPECT bare_conv2d: conv2d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv2d("conv", 64, 3)
namespace bare_conv2d {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | MISSPELT(conv2d, conv2d("conv", 4, 3)) | output("z"));
MODEL(net, rules)
}  // namespace bare_conv2d

// EXPECT stride_of_half: stride takes whole numbers: write stride(2)
namespace stride_of_half {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, 3, stride(either(0.5, 2))) | output("z"));
MODEL(net, rules)
}  // namespace stride_of_half

// EXPECT dilation_of_half: dilation takes whole numbers: write dilation(2)
namespace dilation_of_half {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv1d("conv", 4, 3, dilation(either(0.5, 2))) | output("z"));
MODEL(net, rules)
}  // namespace dilation_of_half

// EXPECT padding_as_word: padding takes whole numbers, or write same in its place: write padding(1)
namespace padding_as_word {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv1d("conv", 4, 3, padding(either("same", 1))) | output("z"));
MODEL(net, rules)
}  // namespace padding_as_word

// EXPECT groups_of_half: groups takes a whole number: write groups(4)
namespace groups_of_half {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, 3, groups(either(0.5, 2))) | output("z"));
MODEL(net, rules)
}  // namespace groups_of_half

// EXPECT convolution_option: layer 'conv' is given what is no option of convolution: it takes
// no_bias, stride(), dilation(), padding(), groups(), tied(), shared(), and options of parameters
// such as frozen, no_decay or init_normal()
namespace convolution_option {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv1d("conv", 4, 3, either(epsilon(1e-5), no_bias)) | output("z"));
MODEL(net, rules)
}  // namespace convolution_option

// EXPECT convolution_stride: layer 'conv' has a stride that is not from 1 to 65536: write stride(2)
namespace convolution_stride {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") | conv2d("conv", 4, 3, stride(2, either(0, 1))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_stride

// EXPECT convolution_dilation: layer 'conv' has a dilation that is not from 1 to 65536: write
// dilation(2)
namespace convolution_dilation {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, 3, dilation(either(-1, 1))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_dilation

// EXPECT convolution_padding: layer 'conv' has a padding that is not from 0 to 65536: write
// padding(1)
namespace convolution_padding {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, 3, padding(either(-1, 0))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_padding

// EXPECT convolution_kernel: layer 'conv' has a kernel that is not from 1 to 65536: write 3
namespace convolution_kernel {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, either(0, 1)) | output("z"));
MODEL(net, rules)
}  // namespace convolution_kernel

// EXPECT convolution_kernel_beyond: layer 'conv' has a kernel that is not from 1 to 65536: write 3
namespace convolution_kernel_beyond {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv1d("conv", 4, either(9223372036854775807, 1)) | output("z"));
MODEL(net, rules)
}  // namespace convolution_kernel_beyond

// EXPECT dilation_of_same: layer 'conv' has a dilation that is not from 1 to 65536: write
// dilation(2)
namespace dilation_of_same {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv1d("conv", 4, 3, same, dilation(either(-1, 1))) | output("z"));
MODEL(net, rules)
}  // namespace dilation_of_same

// EXPECT dilation_beyond: layer 'conv' has a dilation that is not from 1 to 65536: write
// dilation(2)
namespace dilation_beyond {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") | conv1d("conv", 4, 3, same, dilation(either(9223372036854775807, 1))) | output("z"));
MODEL(net, rules)
}  // namespace dilation_beyond

// EXPECT convolution_without_groups: layer 'conv' has a number of groups that is not from 1 to
// 65536: write groups(4)
namespace convolution_without_groups {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 4, 3, groups(either(0, 2))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_without_groups

// EXPECT convolution_outputs: layer 'conv' has 0 outputs: write a number of 1 or more
namespace convolution_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", either(0, 1), 3) | output("z"));
MODEL(net, rules)
}  // namespace convolution_outputs

// EXPECT convolution_dimensions: layer 'conv' reads [batch, 8] but slides over 2 dimensions before
// the channels: give its input 3 dimensions or more
namespace convolution_dimensions {
constexpr auto net = model("net", inputs(either(tensor("x", batch, 8), tensor("x", 9, 9, 8))),
                           from("x") | conv2d("conv", 4, 3) | output("z"));
MODEL(net, rules)
}  // namespace convolution_dimensions

// EXPECT convolution_channels: layer 'conv' reads [batch, 9, channels], whose channels are the
// symbol 'channels': give it a number
namespace convolution_channels {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, either(symbol("channels"), Dimension(8)))),
          from("x") | conv1d("conv", 4, 3) | output("z"));
MODEL(net, rules)
}  // namespace convolution_channels

// EXPECT convolution_groups: layer 'conv' cuts 8 channels into 3 groups: make them a multiple of
// the groups
namespace convolution_groups {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", 12, 3, groups(either(3, 4))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_groups

// EXPECT convolution_groups_of_outputs: layer 'conv' cuts 6 outputs into 4 groups: make them a
// multiple of the groups
namespace convolution_groups_of_outputs {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | conv1d("conv", either(6, 12), 3, groups(4)) | output("z"));
MODEL(net, rules)
}  // namespace convolution_groups_of_outputs

// EXPECT convolution_of_batch: layer 'conv' reads [batch, 9, 8] but slides over the batch: give its
// input 4 dimensions or more, of which that is the first
namespace convolution_of_batch {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") | either(conv2d("conv", 4, 1), conv1d("conv", 4, 1)) |
                               output("z"));
MODEL(net, rules)
}  // namespace convolution_of_batch

// EXPECT convolution_symbol: layer 'conv' reads [batch, time, 8], whose spatial dimension 'time'
// would not have 'time' windows: give it a number, or a padding of 2 for both sides together, as
// same has
namespace convolution_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 8)),
          from("x") | conv1d("conv", 4, 3, either(padding(2), padding(1))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_symbol

// EXPECT transposed_symbol: layer 'up' reads [batch, time, 8], and would not make 2 places of each
// along its spatial dimension 'time': give it a number, or let the stride and both sides' padding
// add up to 3, the window's reach with the output_padding
namespace transposed_symbol {
constexpr auto net =
    model("net", inputs(tensor("x", batch, symbol("time"), 8)),
          from("x") | conv_transpose1d("up", 4, either(3, 2), stride(2)) | output("z"));
MODEL(net, rules)
}  // namespace transposed_symbol

// EXPECT convolution_window: layer 'conv' has a window of 5 over 4 elements of [batch, 4, 8]: make
// it smaller, or the padding larger
namespace convolution_window {
constexpr auto net = model("net", inputs(tensor("x", batch, 4, 8)),
                           from("x") | conv1d("conv", 4, 3, dilation(either(2, 1))) | output("z"));
MODEL(net, rules)
}  // namespace convolution_window

// EXPECT conv_transpose1d_twice: conv_transpose1d takes a name, whole numbers of outputs and of the
// kernel, and stride(), dilation(), padding() or same, output_padding() and groups(), each at most
// once and with a number or as many as dimensions: write conv_transpose1d("up", 32, 4, stride(2))
namespace conv_transpose1d_twice {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 8)),
    from("x") |
        either(conv_transpose1d("up", 4, 3, same, padding(1)), conv_transpose1d("up", 4, 3, same)) |
        output("z"));
MODEL(net, rules)
}  // namespace conv_transpose1d_twice

// EXPECT conv_transpose2d_twice: conv_transpose2d takes a name, whole numbers of outputs and of the
// kernel, and stride(), dilation(), padding() or same, output_padding() and groups(), each at most
// once and with a number or as many as dimensions: write conv_transpose2d("up", 32, 4, stride(2))
namespace conv_transpose2d_twice {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 8)),
    from("x") |
        either(conv_transpose2d("up", 4, 3, same, padding(1)), conv_transpose2d("up", 4, 3, same)) |
        output("z"));
MODEL(net, rules)
}  // namespace conv_transpose2d_twice

// EXPECT conv_transpose3d_twice: conv_transpose3d takes a name, whole numbers of outputs and of the
// kernel, and stride(), dilation(), padding() or same, output_padding() and groups(), each at most
// once and with a number or as many as dimensions: write conv_transpose3d("up", 32, 4, stride(2))
namespace conv_transpose3d_twice {
constexpr auto net = model(
    "net", inputs(tensor("x", batch, 9, 9, 9, 8)),
    from("x") |
        either(conv_transpose3d("up", 4, 3, same, padding(1)), conv_transpose3d("up", 4, 3, same)) |
        output("z"));
MODEL(net, rules)
}  // namespace conv_transpose3d_twice

// EXPECT output_padding_of_half: output_padding takes whole numbers: write output_padding(1)
namespace output_padding_of_half {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv_transpose1d("up", 4, 3, stride(2), output_padding(either(0.5, 1))) |
              output("z"));
MODEL(net, rules)
}  // namespace output_padding_of_half

// EXPECT output_padding_of_convolution: conv1d takes a name, whole numbers of outputs and of the
// kernel, and stride(), dilation(), padding() or same, with these reflect, replicate or circular,
// and groups(), each at most once and with a number or as many as dimensions: write conv1d("conv",
// 64, 3)
namespace output_padding_of_convolution {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") |
              either(conv1d("conv", 4, 3, stride(2), output_padding(1)),
                     conv_transpose1d("conv", 4, 3, stride(2), output_padding(1))) |
              output("z"));
MODEL(net, rules)
}  // namespace output_padding_of_convolution

// EXPECT output_padding_of_stride: layer 'up' has an output_padding of 2 for a stride of 2: make it
// smaller than the stride
namespace output_padding_of_stride {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv_transpose1d("up", 4, 3, stride(2), output_padding(either(2, 1))) |
              output("z"));
MODEL(net, rules)
}  // namespace output_padding_of_stride

// EXPECT output_padding_below_zero: layer 'up' has an output_padding that is not from 0 to 65536:
// write output_padding(1)
namespace output_padding_below_zero {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 8)),
          from("x") | conv_transpose1d("up", 4, 3, stride(2), output_padding(either(-1, 1))) |
              output("z"));
MODEL(net, rules)
}  // namespace output_padding_below_zero

// EXPECT transposed_places: layer 'up' leaves 0 places of [batch, 2, 8]: make the padding smaller
namespace transposed_places {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 2, 8)),
          from("x") | conv_transpose1d("up", 4, 3, padding(either(2, 1))) | output("z"));
MODEL(net, rules)
}  // namespace transposed_places

// EXPECT conv2d_mode_alone: conv2d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv2d("conv", 64, 3)
namespace conv2d_mode_alone {
constexpr auto net =
    model("net", inputs(tensor("x", batch, 9, 9, 8)),
          from("x") | either(conv2d("conv", 4, 3, reflect), conv2d("conv", 4, 3, reflect, same)) |
              output("z"));
MODEL(net, rules)
}  // namespace conv2d_mode_alone

// EXPECT conv2d_two_modes: conv2d takes a name, whole numbers of outputs and of the kernel, and
// stride(), dilation(), padding() or same, with these reflect, replicate or circular, and groups(),
// each at most once and with a number or as many as dimensions: write conv2d("conv", 64, 3)
namespace conv2d_two_modes {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 9, 8)),
                           from("x") |
                               either(conv2d("conv", 4, 3, padding(1), reflect, circular),
                                      conv2d("conv", 4, 3, padding(1), circular, no_bias)) |
                               output("z"));
MODEL(net, rules)
}  // namespace conv2d_two_modes

// EXPECT conv_transpose1d_mode: conv_transpose1d takes a name, whole numbers of outputs and of the
// kernel, and stride(), dilation(), padding() or same, output_padding() and groups(), each at most
// once and with a number or as many as dimensions: write conv_transpose1d("up", 32, 4, stride(2))
namespace conv_transpose1d_mode {
constexpr auto net = model("net", inputs(tensor("x", batch, 9, 8)),
                           from("x") |
                               either(conv_transpose1d("up", 4, 3, padding(1), reflect),
                                      conv_transpose1d("up", 4, 3, padding(1))) |
                               output("z"));
MODEL(net, rules)
}  // namespace conv_transpose1d_mode
