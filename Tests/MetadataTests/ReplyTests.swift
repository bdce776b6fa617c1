import Core
import Support
import Testing

@testable import Metadata

@Suite struct ReplyTests {
    /// The most that a photo can make a worker tell: each tag, the texts as long as they are read, in characters of the
    /// most bytes; all that can be found, kept and warned of.
    @Test(arguments: ["x", "\u{1F98A}", "\u{85}\u{E9}"]) func theLongestFitsAMessage(character: String) throws {
        var block = TIFFBuilder()
        for tag in StandardTag.all.values {
            let value: TIFFBuilder.Value =
                switch tag.form {
                case .text where tag.name == "Copyright":
                    .ascii(String(repeating: character, count: 900) + "\0" + String(repeating: character, count: 900))
                case .text, .version: .ascii(String(repeating: character, count: 2000))
                case .short, .long, .bytes: .raw(type: 3, count: 16, [UInt8](repeating: 1, count: 32))
                case .rational, .signedRational: .raw(type: 5, count: 16, [UInt8](repeating: 3, count: 128))
                }
            switch tag.key.directory {
            case .image: block.ifd0.append((tag.key.number, value))
            case .exif: block.exif.append((tag.key.number, value))
            case .gps: break
            case .interoperability: block.interoperability.append((tag.key.number, value))
            }
        }
        block.gps = Blocks.gps()
        let disclosure = ExifReading([block.bytes]).disclosed(by: MetadataPolicy(exif: .keep, gps: .keep))
        #expect(disclosure.exif?.fields.count ?? 0 > 60 && disclosure.position != nil)
        let size = PixelSize(width: 65535, height: 65535)
        let name = String(repeating: "\u{1F98A}", count: 200)
        let report = Report(
            path: .reencode, size: size, quality: 100,
            source: Report.Source(format: .heic, size: size, orientation: .transversed, orientationSource: .irot),
            color: Report.Color(source: name, output: name),
            found: Dictionary(uniqueKeysWithValues: Removable.allCases.map { ($0, Int.max) }),
            kept: Set(Removable.allCases), disclosure: disclosure, warnings: Set(Warning.allCases))
        let message = JobMessage.encode(.done(report))
        #expect(message.count <= JobMessage.bytesMax, "\(message.count)")
        #expect(try JobMessage.decodeReply(message) == .done(report))
    }
}
