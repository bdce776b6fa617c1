import Container
import Core
import Foundation

/// Seeds from a corpus of real files: those that are small, the heads of the others, and what lies in them.
enum CorpusSeeds {
    /// Larger inputs make a fuzzer slow for nothing.
    private static let wholeBytesMax = 16_000
    private static let headBytes = 4_000

    static func all(in folder: URL) throws -> [Seed] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return try paths.flatMap { path -> [Seed] in
            let url = folder.appendingPathComponent(path)
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return [] }
            return seeds(path.replacingOccurrences(of: "/", with: "-"), Array(try Data(contentsOf: url)))
        }
    }

    private static func seeds(_ name: String, _ bytes: [UInt8]) -> [Seed] {
        var seeds = [Seed("FuzzSniff", name, Array(bytes.prefix(300)))]
        let isSmall = bytes.count <= wholeBytesMax
        let piece = isSmall ? bytes : Array(bytes.prefix(headBytes))
        switch Sniffer.sniff(Array(bytes.prefix(Sniffer.prefixLength)).span) {
        case .accepted(.heic): seeds.append(Seed("FuzzBoxes", name, piece))
        case .accepted(.jpeg): seeds.append(Seed("FuzzJPEGSegments", name, piece))
        case .refused, .unknown: return seeds
        }
        if isSmall {
            for choice in Set([0, name.utf8.count % Choice.options.count]) {
                seeds.append(Seed("FuzzTranscoder", "\(choice)-corpus-\(name)", Choice.options[choice] + bytes))
            }
        }
        for (index, block) in blocks(of: bytes).enumerated() where block.count <= wholeBytesMax {
            seeds.append(Seed("FuzzExif", "\(index)-\(name)", [Choice.policies[name.utf8.count % 2]] + block))
        }
        return seeds
    }

    private static func blocks(of bytes: [UInt8]) -> [[UInt8]] {
        let jpeg = try? JPEGStructure(parsing: bytes.span, limits: Limits())
        let heif = try? HEIFStructure(parsing: bytes.span, limits: Limits())
        return (jpeg?.exif ?? heif?.exif ?? []).map { $0.bytes(in: bytes.span) }
    }
}
