package import Core

/// Says from a file's first bytes what it is; names and declared types play no part.
package enum Sniffer {
    /// Bytes that settle every case: the longest `ftyp` box known of a phone or camera has 15 brands (76 bytes).
    package static let prefixLength = 256

    /// - Parameter prefix: the first `prefixLength` bytes, or the whole file where it is shorter. What a cut prefix
    ///   cannot yet tell is `.unknown`, never a wrong answer.
    package static func sniff(_ prefix: Span<UInt8>) -> Sniffed {
        // SOI alone: junk may stand before the next marker, and no other format begins so.
        if prefix.matches([0xFF, 0xD8], at: 0) { return .accepted(.jpeg) }
        if prefix.matches(ascii("ftyp"), at: 4) { return sniffBrands(prefix) }
        if let mediaType = signature(prefix) { return .refused(mediaType: mediaType) }
        if isQuickTimeAtom(prefix) { return .refused(mediaType: "video/quicktime") }
        return .unknown
    }
}

// MARK: Formats that are refused by name

extension Sniffer {
    private struct Signature: Sendable {
        let mediaType: String
        let offset: Int
        let bytes: [UInt8]

        init(_ mediaType: String, _ bytes: [UInt8], at offset: Int = 0) {
            self.mediaType = mediaType
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// The more special stands before the more general.
    private static let signatures: [Signature] = [
        Signature("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Signature("image/gif", ascii("GIF87a")),
        Signature("image/gif", ascii("GIF89a")),
        Signature("image/x-canon-cr2", ascii("II*\0\u{10}\0\0\0CR")),
        Signature("image/tiff", ascii("II*\0")),
        Signature("image/tiff", ascii("MM\0*")),
        Signature("image/tiff", ascii("II+\0")),
        Signature("image/tiff", ascii("MM\0+")),
        Signature("image/x-panasonic-rw2", ascii("IIU\0")),
        Signature("image/x-olympus-orf", ascii("IIRO")),
        Signature("image/x-olympus-orf", ascii("MMOR")),
        Signature("image/x-fuji-raf", ascii("FUJIFILMCCD-RAW")),
        Signature("image/jxl", [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Signature("image/jxl", [0xFF, 0x0A]),
        Signature("image/jp2", [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Signature("image/jp2", [0xFF, 0x4F, 0xFF, 0x51]),
        Signature("image/vnd.adobe.photoshop", ascii("8BPS\0")),
        Signature("image/x-exr", [0x76, 0x2F, 0x31, 0x01]),
        Signature("image/qoi", ascii("qoif")),
        Signature("application/pdf", ascii("%PDF-")),
        Signature("application/zip", ascii("PK\u{3}\u{4}")),
        Signature("application/gzip", [0x1F, 0x8B, 0x08]),
        Signature("video/x-matroska", [0x1A, 0x45, 0xDF, 0xA3]),
        Signature("image/svg+xml", ascii("<svg")),
    ]

    private static func signature(_ prefix: Span<UInt8>) -> String? {
        for known in signatures where prefix.matches(known.bytes, at: known.offset) { return known.mediaType }
        if prefix.matches(ascii("RIFF"), at: 0) {
            if prefix.matches(ascii("WEBP"), at: 8) { return "image/webp" }
            if prefix.matches(ascii("AVI "), at: 8) { return "video/x-msvideo" }
        }
        // "BM" alone is too short to be sure: the reserved bytes are 0 and the header has one of the known lengths.
        if prefix.matches(ascii("BM"), at: 0), prefix.matches([0, 0, 0, 0], at: 6), let length = prefix.byte(at: 14),
            [12, 40, 52, 56, 64, 108, 124].contains(length), prefix.matches([0, 0, 0], at: 15)
        {
            return "image/bmp"
        }
        return nil
    }

    /// A QuickTime movie of the time before `ftyp`, which begins with any of its atoms.
    private static func isQuickTimeAtom(_ prefix: Span<UInt8>) -> Bool {
        guard let size = prefix.bigEndian32(at: 0), size >= 8 || size <= 1 else { return false }
        return ["moov", "mdat", "wide", "free", "skip", "pnot"].contains { prefix.matches(ascii($0), at: 4) }
    }
}

// MARK: The ISO base media family, told apart by its brands (ISO/IEC 14496-12, section 4.3)

extension Sniffer {
    /// Still pictures coded with HEVC (ISO/IEC 23008-12, annex B.4.1).
    private static let hevcStills: Set<FourCC> = ["heic", "heix", "heim", "heis"]
    private static let hevcSequences: Set<FourCC> = ["hevc", "hevx", "hevm", "hevs"]
    /// Still pictures of any coding: the structure tells which.
    private static let anyStills: Set<FourCC> = ["mif1", "mif2", "mif3", "miaf"]

    private static let refusedBrands: [FourCC: String] = [
        "avif": "image/avif", "avis": "image/avif", "jpeg": "image/heif", "jpgs": "image/heif",
        "j2ki": "image/hej2k", "j2is": "image/hej2k", "avci": "image/avci", "avcs": "image/avcs",
        "vvic": "image/vvic", "vvis": "image/vvic", "qt  ": "video/quicktime", "crx ": "image/x-canon-cr3",
        "M4A ": "audio/mp4", "M4B ": "audio/mp4",
    ]
    private static let movieBrands: Set<FourCC> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "avc1", "M4V ", "M4VH",
        "M4VP", "MSNV", "dash", "f4v ", "mmp4", "NDSC", "XAVC", "av01",
    ]

    private static func sniffBrands(_ prefix: Span<UInt8>) -> Sniffed {
        guard let size = prefix.bigEndian32(at: 0), size >= 16 || size == 0, let major = FourCC(at: 8, of: prefix)
        else { return .unknown }
        if hevcStills.contains(major) { return .accepted(.heic) }
        if let mediaType = refusedBrands[major] { return .refused(mediaType: mediaType) }

        // The other major brands leave the word to the compatible ones, so these must be there to the last.
        let end = min(size == 0 ? prefixLength : size, prefixLength)
        guard prefix.count >= end else { return .unknown }
        var brands: Set<FourCC> = [major]
        for offset in stride(from: 16, to: end - 3, by: 4) {
            if let brand = FourCC(at: offset, of: prefix) { brands.insert(brand) }
        }
        return judge(brands, major: major)
    }

    private static func judge(_ brands: Set<FourCC>, major: FourCC) -> Sniffed {
        if !brands.isDisjoint(with: hevcStills) { return .accepted(.heic) }
        for brand in ["avif", "avis", "j2ki", "jpeg", "avci", "vvic"] as [FourCC] where brands.contains(brand) {
            return .refused(mediaType: refusedBrands[brand] ?? "image/heif")
        }
        if !brands.isDisjoint(with: anyStills) { return .accepted(.heic) }
        if !brands.isDisjoint(with: hevcSequences) { return .refused(mediaType: "image/heic-sequence") }
        if brands.contains("msf1") { return .refused(mediaType: "image/heif-sequence") }
        if brands.contains("qt  ") { return .refused(mediaType: "video/quicktime") }
        if major.text.hasPrefix("3g") { return .refused(mediaType: "video/3gpp") }
        if !brands.isDisjoint(with: movieBrands) { return .refused(mediaType: "video/mp4") }
        return .unknown
    }
}
