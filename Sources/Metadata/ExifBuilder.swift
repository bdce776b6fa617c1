package import Core

/// Builds the EXIF block of a finished picture anew, from the allow-list, by libexif. What is not written cannot leak.
package enum ExifBuilder {
    /// What the block has to say of the finished picture, whatever the source's said.
    package struct Picture: Sendable {
        package var size: PixelSize
        /// Whether the samples are sRGB; else the block says "uncalibrated", and the ICC profile tells.
        package var isSRGB: Bool
        package var isGrey: Bool

        package init(size: PixelSize, isSRGB: Bool, isGrey: Bool) {
            self.size = size
            self.isSRGB = isSRGB
            self.isGrey = isGrey
        }
    }

    package struct Result: Sendable, Equatable {
        /// Of one APP1 segment, `Exif\0\0` first; below 65,534 bytes, since all texts of the allow-list are bounded.
        package let payload: [UInt8]
        /// `exif`, `gps`
        package let kept: Set<Removable>
    }

    /// - Returns: nil where the policy keeps nothing that the block has.
    package static func build(_ block: ExifBlock, policy: MetadataPolicy, picture: Picture) -> Result? {
        var data = ExifData.empty()
        var kept: Set<Removable> = []
        if policy.exif == .keep {
            kept.insert(.exif)
            insertKept(of: block, into: &data)
            insertRequired(block, of: picture, into: &data)
        }
        if policy.gps == .keep, var place = block.position?.limited(by: policy) {
            kept.insert(.gps)
            // It is the time of the capture, which goes along with EXIF or not at all.
            if policy.exif != .keep { place.timestamp = nil }
            insert(place, of: policy.gpsPrecision == .city ? nil : block, into: &data)
        }
        return kept.isEmpty ? nil : Result(payload: data.saved(), kept: kept)
    }

    private static func insertKept(of block: ExifBlock, into data: inout ExifData) {
        for field in block.fields where field.tag.isKept {
            guard let encoded = field.encoded else { continue }
            data.insert(field.tag.key, encoded.type, encoded.bytes)
        }
    }

    /// The tags that a block must have (EXIF 3.0, section 4.6.4), true to the finished picture. Its resolution is said
    /// to be unknown, by the standard's way: 72 an inch.
    private static func insertRequired(_ block: ExifBlock, of picture: Picture, into data: inout ExifData) {
        let resolution = BigEndian.long(72) + BigEndian.long(1)
        var tags: [(StandardTag.Directory, UInt16, TIFFType, [UInt8])] = [
            (.image, 0x0112, .short, BigEndian.short(1)), (.image, 0x011A, .rational, resolution),
            (.image, 0x011B, .rational, resolution), (.image, 0x0128, .short, BigEndian.short(2)),
            (.exif, 0x9000, .undefined, Array("0300".utf8)),
            (.exif, 0x9101, .undefined, picture.isGrey ? [1, 0, 0, 0] : [1, 2, 3, 0]),
            (.exif, 0xA000, .undefined, Array("0100".utf8)),
            (.exif, 0xA001, .short, BigEndian.short(picture.isSRGB ? 1 : 65535)),
            (.exif, 0xA002, .long, BigEndian.long(picture.size.width)),
            (.exif, 0xA003, .long, BigEndian.long(picture.size.height)),
        ]
        if !picture.isGrey {
            // Chroma is never moved, so it lies where the source has it.
            let isCosited = block.record.integer("YCbCrPositioning") == 2
            tags.append((.image, 0x0213, .short, BigEndian.short(isCosited ? 2 : 1)))
        }
        for (directory, number, type, bytes) in tags {
            data.insert(StandardTag.Key(directory: directory, number: number), type, bytes)
        }
    }

    /// - Parameter block: the source, for the fractions as they stood; nil where they are not to be written.
    private static func insert(_ place: Position, of block: ExifBlock?, into data: inout ExifData) {
        for field in GPSFields(place, fractionsOf: block).fields {
            data.insert(StandardTag.Key(directory: .gps, number: field.number), field.type, field.bytes)
        }
    }
}

/// Values in the byte order that the blocks are written in.
enum BigEndian {
    static func short(_ value: Int) -> [UInt8] { bytes(value, 2) }

    static func long(_ value: Int) -> [UInt8] { bytes(value, 4) }

    private static func bytes(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
