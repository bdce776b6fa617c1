import Foundation
import Support
import Testing

/// exiftool on a small JPEG that carries a block: an independent reader, and an independent writer.
enum Exiftool {
    private static let picture = Result { try JPEGPictures.cjpeg(8, 8, []) }

    /// The picture with an APP1 segment behind SOI.
    static func jpeg(_ payload: [UInt8]) throws -> [UInt8] {
        let plain = try picture.get()
        return plain[..<2] + JPEGPictures.segment(0xE1, payload) + plain[2...]
    }

    static func header(_ tiff: [UInt8]) -> [UInt8] { Array("Exif\0\0".utf8) + tiff }

    /// All tags that exiftool finds, named `Group:Tag`, values as numbers where they are numbers.
    static func read(_ payload: [UInt8]) throws -> [String: Any] {
        try json(["-n", "-G1"], payload)
    }

    static func json(_ options: [String], _ payload: [UInt8]) throws -> [String: Any] {
        let text = try Tool.run(["exiftool", "-j", "-a", "-u"] + options + ["-"], input: try jpeg(payload)).output
        let answer = try JSONSerialization.jsonObject(with: Data(text)) as? [[String: Any]]
        return answer?.first ?? [:]
    }

    /// The names of EXIF tags, without group.
    static func tags(_ payload: [UInt8]) throws -> Set<String> {
        let groups = ["IFD0", "IFD1", "ExifIFD", "GPS", "InteropIFD", "MakerNotes"]
        return Set(
            try read(payload).keys.compactMap { name in
                let parts = name.split(separator: ":")
                return groups.contains(String(parts[0])) ? String(parts[1]) : nil
            })
    }

    static func validation(_ payload: [UInt8]) throws -> String {
        let options = ["-validate", "-warning", "-error", "-a", "-s3"]
        return try Tool.run(["exiftool"] + options + ["-"], input: try jpeg(payload)).text
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The TIFF structure that exiftool writes for these assignments.
    static func written(_ assignments: [String]) throws -> [UInt8] {
        let arguments = ["exiftool", "-n"] + assignments.map { "-" + $0 } + ["-o", "-", "-"]
        let file = try Tool.run(arguments, input: try picture.get()).output
        let at = try #require(JPEGPictures.offset(of: 0xE1, in: file))
        let length = Int(file[at + 2]) << 8 | Int(file[at + 3])
        return Array(file[(at + 10)..<(at + 2 + length)])
    }
}
