// A harness in Zig that compares each pair of bytes once.
var sink: u64 = 0;

noinline fn pairs(bytes: []const u8) u64 {
    var equal: u64 = 0;
    for (bytes, 0..) |byte, at| {
        for (bytes[0..at]) |earlier| {
            if (earlier == byte) equal += 1;
        }
    }
    return equal;
}

export fn LLVMFuzzerTestOneInput(data: [*]const u8, size: usize) c_int {
    sink +%= pairs(data[0..size]);
    return 0;
}
