import Container
import Core
import Support
import Testing

@Suite struct JPEGPreambleTests {
    private func whole(_ preamble: [UInt8]) -> [UInt8] {
        preamble + JPEGShape.dqt + JPEGShape.frame() + JPEGShape.dht + JPEGShape.scanHeader() + [1] + JPEGShape.eoi
    }

    @Test func isReadAsJFIF() throws {
        let file = whole(try JPEGPreamble.bytes(profile: []))
        let told = try Tool.run(["exiftool", "-a", "-G1", "-JFIF:all", "-s", "-n", "-"], input: file).text
        #expect(told.contains("JFIFVersion"))
        #expect(told.contains(": 1 1"))
        #expect(told.contains("ResolutionUnit"))
        #expect(!told.contains("Thumbnail"))
        #expect(try JPEGStructure(parsing: file.span, limits: Limits()).removed.isEmpty)
    }

    @Test(arguments: [(1, 1), (65_519, 1), (65_520, 2), (131_038, 2), (131_039, 3), (16_707_345, 255)])
    func cutsTheProfile(count: Int, chunks: Int) throws {
        // No two chunks begin alike.
        var profile = [UInt8](repeating: 7, count: count)
        for start in stride(from: 0, to: count, by: JPEGPreamble.profileChunkMax) {
            profile[start] = UInt8(start % 251)
        }
        let file = whole(try JPEGPreamble.bytes(profile: profile))
        let structure = try JPEGStructure(parsing: file.span, limits: Limits())
        guard case .complete(let extents) = structure.profile else {
            Issue.record("\(structure.profile)")
            return
        }
        #expect(extents.ranges.count == chunks)
        #expect(extents.bytes(in: file.span) == profile)
    }

    @Test func exiftoolFindsTheProfile() throws {
        // The length that a profile states of itself, its signature at byte 36, no tags.
        let count = 70_000
        var profile = [UInt8](repeating: 0, count: count)
        profile.replaceSubrange(0..<4, with: [0, 1, 0x11, 0x70])
        profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
        let file = whole(try JPEGPreamble.bytes(profile: profile))
        #expect(try Tool.run(["exiftool", "-b", "-ICC_Profile", "-"], input: file).output == profile)
    }

    @Test func refusesAProfileTooLong() {
        #expect(throws: Failure.self) {
            try JPEGPreamble.bytes(profile: Array(repeating: 0, count: JPEGPreamble.profileBytesMax + 1))
        }
    }
}
