import Core
import Glibc
import Posix
import Transcoding

// measure FILE TIMES: prepares one photo so many times in this process, as a worker would, and keeps nothing. For
// Benchmarks/bench/instructions.py: valgrind cannot look into a worker, which is locked up.

let arguments = CommandLine.arguments
guard arguments.count == 3, let times = Int(arguments[2]) else { exit(2) }
let file = Descriptor(adopting: open(arguments[1], O_RDONLY | O_CLOEXEC))
let size = try file.size()
guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.raw, 0), mapping != MAP_FAILED else { exit(1) }
try Transcoder.prepare()
for _ in 0..<times {
    let output = try MemoryFile(name: "measured")
    _ = try Transcoder.transcode(
        UnsafeRawBufferPointer(start: mapping, count: size), Job(options: Options(), limits: Limits()),
        to: output.descriptor)
}
