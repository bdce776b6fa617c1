import Core
import Support
import Testing

@testable import Metadata

@Suite struct ExifReadingTests {
    private func block(_ model: String) -> [UInt8] {
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x0110, .ascii(model))]
        return builder.bytes
    }

    private let junk = Array("no EXIF at all".utf8)

    @Test func theFirstValidOneWins() {
        let one = ExifReading([block("A")])
        #expect(one.block?.capture.cameraModel == "A")
        #expect(one.warnings == [])
        let two = ExifReading([block("A"), block("B")])
        #expect(two.block?.capture.cameraModel == "A")
        #expect(two.warnings == [.exifRepeated])
        #expect(two.foundBytes[.exif] == block("A").count + block("B").count)
        let second = ExifReading([junk, block("B")])
        #expect(second.block?.capture.cameraModel == "B")
        #expect(second.warnings == [.exifRepeated, .exifDamaged])
        // A block with a MakerNote and nothing else.
        var empty = TIFFBuilder()
        empty.exif = [(0x927C, .undefined([1, 2, 3, 4, 5]))]
        let third = ExifReading([empty.bytes, block("C"), block("D")])
        #expect(third.block?.capture.cameraModel == "C")
        #expect(third.foundBytes[.makernote] == 5)
        #expect(ExifReading([empty.bytes]).block?.facts.found == [.exif, .makernote])
    }

    @Test func noneAtAll() {
        #expect(ExifReading([]).block == nil)
        #expect(ExifReading([]).foundBytes.isEmpty)
        #expect(ExifReading([junk]).block == nil)
        #expect(ExifReading([junk]).foundBytes == [.exif: junk.count])
        #expect(ExifReading([junk]).warnings == [.exifDamaged])
    }

    @Test func aDamagedOneIsSaid() {
        let reading = ExifReading([Array(Blocks.rich().bytes.prefix(400))])
        #expect(reading.block != nil)
        #expect(reading.warnings == [.exifDamaged])
    }

    @Test func tellsByPolicy() throws {
        let bytes = Blocks.rich().bytes
        let block = try #require(ExifBlock(reading: bytes))
        func disclosed(_ policy: MetadataPolicy) -> Disclosure { ExifReading([bytes]).disclosed(by: policy) }
        #expect(disclosed(MetadataPolicy()) == Disclosure())
        let exif = disclosed(MetadataPolicy(exif: .return))
        #expect(exif.exif == block.record)
        #expect(exif.capture == block.capture)
        #expect(exif.position == nil && exif.gpsStatus == nil)
        let gps = disclosed(MetadataPolicy(gps: .keep))
        #expect(gps.exif == nil && gps.capture == nil)
        #expect(gps.gpsStatus == .present)
        #expect(gps.position?.latitude == block.position?.latitude)
        #expect(gps.position?.timestamp == nil)
        #expect(disclosed(MetadataPolicy(exif: .keep, gps: .return)).position == block.position)
        let city = disclosed(MetadataPolicy(exif: .keep, gps: .return, gpsPrecision: .city))
        #expect(city.position == block.position?.city)
    }

    /// Empty, and not missing: the caller asked, and there is nothing.
    @Test func tellsThatThereIsNothing() {
        let all = ExifReading([]).disclosed(by: MetadataPolicy(exif: .return, gps: .return))
        #expect(all.exif == ExifRecord() && all.capture == Capture())
        #expect(all.gpsStatus == GPSStatus.none && all.position == nil)
    }
}
