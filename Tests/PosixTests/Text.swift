import Glibc
import Posix

/// A small file of /proc.
func text(_ path: String) throws -> String {
    let file = try Descriptor.open(path, O_RDONLY)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
    return String(decoding: bytes[..<count], as: UTF8.self)
}
