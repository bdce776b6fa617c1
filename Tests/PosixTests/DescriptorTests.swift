import Glibc
import Posix
import Support
import Testing

@Suite struct DescriptorTests {
    @Test func rewindingCutsOffAndGoesOnThere() throws {
        let file = try MemoryFile(name: "test-rewind")
        try Array("kept".utf8).withUnsafeBytes { try file.append($0) }
        let start = try file.descriptor.position()
        #expect(start == 4)
        try Array("too long".utf8).withUnsafeBytes { try file.append($0) }
        try file.descriptor.rewind(to: start)
        let size = try file.descriptor.size()
        #expect(size == 4)
        try Array(" short".utf8).withUnsafeBytes { try file.append($0) }
        let sealed = try file.seal()
        #expect(sealed.withBytes { Array($0) } == Array("kept short".utf8))
    }

    /// Whole pages and their end, and what no file system writes directly: from memory or to a place amid a page.
    @Test(arguments: [0, 1, 4095, 4096, 4097, 300_000], [(0, 0), (1, 0), (0, 3), (512, 512)])
    func writesDirectlyWhatever(count: Int, amid: (memory: Int, file: Int)) throws {
        let bytes = (0..<8192 + count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let folder = try ScratchFolder()
        let path = try folder.file("written", [])
        let file = try Descriptor.open(path, O_WRONLY)
        try file.writeAll(Array(bytes.prefix(amid.file)))
        let object = try SealedFile.holding(bytes, name: "test-direct")
        try object.withBytes {
            try file.writeAllDirectly(UnsafeRawBufferPointer(rebasing: $0.dropFirst(amid.memory).prefix(count)))
        }
        try file.writeAll(Array("end".utf8))
        let expected = bytes.prefix(amid.file) + bytes.dropFirst(amid.memory).prefix(count) + Array("end".utf8)
        #expect(try Tool.run(["cat", path]).output == Array(expected))
    }
}
