import Posix
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
}
