import CEXIF

/// `EXIF_TAG_INTEROPERABILITY_INDEX` is number 1 within its IFD (DCF 2.0); the macro of the same number is GPS's.
let EXIF_TAG_INTEROPERABILITY_INDEX = ExifTag(rawValue: 1)

/// Owns libexif's tree of one EXIF block.
struct ExifData: ~Copyable {
    private let raw: UnsafeMutablePointer<CEXIF.ExifData>

    private init(adopting raw: UnsafeMutablePointer<CEXIF.ExifData>) { self.raw = raw }

    deinit { exif_data_unref(raw) }

    /// Parses `tiff`, which is copied. Nothing is repaired or filled in, so what is found was there.
    ///
    /// - Returns: nil where no IFD has an entry.
    static func loading(_ tiff: UnsafeRawBufferPointer) -> ExifData? {
        guard let raw = exif_data_new() else { fatalError("out of memory") }
        let data = ExifData(adopting: raw)
        exif_data_unset_option(raw, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION)
        exif_data_unset_option(raw, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS)
        // libexif knows a block by this header alone; without it it would search for an APP1 segment.
        var block = Array("Exif\0\0".utf8)
        block.append(contentsOf: tiff)
        guard let count = UInt32(exactly: block.count) else { return nil }
        exif_data_load_data(raw, block, count)
        if data.isEmpty { return nil }
        return data
    }

    private var isEmpty: Bool {
        [EXIF_IFD_0, EXIF_IFD_1, EXIF_IFD_EXIF, EXIF_IFD_GPS, EXIF_IFD_INTEROPERABILITY]
            .allSatisfy { entryCount(in: $0) == 0 }
    }

    var hasThumbnail: Bool { raw.pointee.data != nil && raw.pointee.size > 0 }

    private func content(_ ifd: ExifIfd) -> UnsafeMutablePointer<ExifContent>? {
        withUnsafeBytes(of: raw.pointee.ifd) {
            $0.bindMemory(to: UnsafeMutablePointer<ExifContent>?.self)[Int(ifd.rawValue)]
        }
    }

    func entryCount(in ifd: ExifIfd) -> Int { Int(content(ifd)?.pointee.count ?? 0) }

    /// The first value of an entry of type SHORT or LONG.
    func integer(_ tag: ExifTag, in ifd: ExifIfd) -> Int? {
        guard let entry = exif_content_get_entry(content(ifd), tag), let data = entry.pointee.data else { return nil }
        let order = exif_data_get_byte_order(raw)
        switch (entry.pointee.format, entry.pointee.size) {
        case (EXIF_FORMAT_SHORT, 2...): return Int(exif_get_short(data, order))
        case (EXIF_FORMAT_LONG, 4...): return Int(exif_get_long(data, order))
        default: return nil
        }
    }

    /// An entry's bytes as they stand in the block.
    func bytes(_ tag: ExifTag, in ifd: ExifIfd) -> [UInt8]? {
        guard let entry = exif_content_get_entry(content(ifd), tag), let data = entry.pointee.data else { return nil }
        return Array(UnsafeBufferPointer(start: data, count: Int(entry.pointee.size)))
    }
}
