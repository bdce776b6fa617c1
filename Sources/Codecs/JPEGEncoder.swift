import CJPEG
import Core
import Glibc

/// Encodes bands to a JPEG: JFIF, then an EXIF block, then the ICC profile, then the picture; nothing else.
///
/// The accurate integer DCT is used, and Huffman tables that are made for phone photos (`CJPEG/tables.h`): 12 MP take 0.5
/// to 5 % fewer bytes at quality 90 than by T.81's annex K, and 3 to 17 % at 60 to 70. Tables made for each picture would
/// save up to as much again, but need a second pass over all coefficients: 36 MB and four times the time. A progressive
/// picture needs that pass anyway.
package struct JPEGEncoder: ~Copyable {
    private let raw: OpaquePointer
    private let format: PictureFormat
    /// Rows of luma that libjpeg takes at once.
    private let rowsPerStep: Int
    /// Rows that wait until a step is full, or are too narrow to be encoded where they stand.
    private let waiting: JPEGPlanes
    private var waitingRows = 0
    private var nextRow = 0

    /// - Parameters:
    ///   - format: grey or YCbCr, 8 bits; 65 500 at most a side (libjpeg's bound).
    ///   - quality: 1…100, on libjpeg's scale.
    ///   - exif: of one APP1 segment, 65,533 bytes at most; nil for none.
    ///   - icc: embedded in as many segments as it takes (ICC.1:2010, B.4).
    ///   - output: written to from where it stands; not closed.
    /// - Throws: `output` where writing fails; `outputLimit` where more than `outputBytesMax` would be written; `outOfMemory`;
    ///   `unsupported` for a picture too large for JPEG.
    package static func starting(
        format: PictureFormat, quality: Int, progressive: Bool, exif: [UInt8]? = nil, icc: [UInt8]?, output: Int32,
        outputBytesMax: Int, bytesMax: Int = .max
    ) throws(CodecError) -> JPEGEncoder {
        precondition(format.depth == 8 && format.layout != .rgb, "JPEG takes grey or YCbCr of 8 bits")
        precondition((1...100).contains(quality) && (exif ?? []).count <= 65_533)
        guard max(format.size.width, format.size.height) <= 65500 else {
            throw CodecError(.unsupported, "\(format.size) is too large for JPEG")
        }
        guard let raw = cjpeg_encoder_create() else { throw CodecError(.outOfMemory, "no JPEG encoder") }
        let encoder: JPEGEncoder
        do throws(CodecError) {
            encoder = JPEGEncoder(adopting: raw, format: format, waiting: try .allocating(shapes(format)))
        } catch {
            cjpeg_encoder_free(raw)
            throw error
        }
        var settings = cjpeg_encoder_settings()
        settings.width = Int32(format.size.width)
        settings.height = Int32(format.size.height)
        settings.components = Int32(format.planeCount)
        settings.horizontal = Int32(format.layout.horizontalFactor)
        settings.vertical = Int32(format.layout.verticalFactor)
        settings.quality = Int32(quality)
        settings.is_progressive = progressive ? 1 : 0
        settings.descriptor = output
        settings.bytes_max = max(0, outputBytesMax)
        settings.memory_max = max(0, bytesMax)
        let status = (exif ?? []).withUnsafeBufferPointer { block in
            settings.exif = block.baseAddress
            settings.exif_count = block.count
            return (icc ?? []).withUnsafeBufferPointer { profile in
                settings.icc = profile.baseAddress
                settings.icc_count = profile.count
                return cjpeg_encoder_start(raw, &settings)
            }
        }
        try encoder.check(status)
        return encoder
    }

    private init(adopting raw: OpaquePointer, format: PictureFormat, waiting: consuming JPEGPlanes) {
        self.raw = raw
        self.format = format
        self.waiting = waiting
        rowsPerStep = 8 * format.layout.verticalFactor
    }

    deinit { cjpeg_encoder_free(raw) }

    /// Encodes the next rows. Bands may have any number of rows; full steps are encoded where they stand, without a
    /// copy, if the planes are whole blocks wide.
    ///
    /// - Throws: `output`, `outputLimit`, `outOfMemory`.
    package mutating func write(_ band: Band) throws(CodecError) {
        precondition(band.firstRow == nextRow && band.planes.count == format.planeCount, "bands follow each other")
        precondition(nextRow + band.rows <= format.size.height, "no more rows than the picture has")
        nextRow += band.rows
        let isLast = nextRow == format.size.height
        var done = 0
        while done < band.rows {
            let rows = min(rowsPerStep - waitingRows, band.rows - done)
            let isWholeStep = waitingRows == 0 && (rows == rowsPerStep || isLast)
            if isWholeStep && canEncodeInPlace {
                try encode(band, from: done, rows: rows)
            } else {
                copy(band, from: done, rows: rows)
                waitingRows += rows
                if waitingRows == rowsPerStep { try encodeWaiting() }
            }
            done += rows
        }
    }

    /// Ends the picture after its last row.
    ///
    /// - Returns: the bytes written in all.
    /// - Throws: `output`, `outputLimit`, `outOfMemory`.
    package consuming func finish() throws(CodecError) -> Int {
        precondition(nextRow == format.size.height, "all rows have been written")
        if waitingRows > 0 { try encodeWaiting() }
        try check(cjpeg_encoder_finish(raw))
        return cjpeg_encoder_bytes_written(raw)
    }
}

extension JPEGEncoder {
    private static func shapes(_ format: PictureFormat) -> [JPEGPlanes.Shape] {
        JPEGGeometry(encoding: format).bandShapes
    }

    /// The blocks at the right edge must be filled with what is there: neither with what chance has left beside a
    /// plane, which would be sent along, nor with black, which would ring.
    private var canEncodeInPlace: Bool {
        (0..<format.planeCount).allSatisfy { format.planeSize($0).width % 8 == 0 }
    }

    private func rows(_ rows: Int, of plane: Int) -> Int {
        plane > 0 ? rows.dividedUp(by: format.layout.verticalFactor) : rows
    }

    private func firstRow(_ row: Int, of plane: Int) -> Int {
        plane > 0 ? row / format.layout.verticalFactor : row
    }

    private func encode(_ band: Band, from first: Int, rows count: Int) throws(CodecError) {
        let planes = band.planes.indices.map { index in
            let plane = band.planes[index]
            let base = plane.base + firstRow(first, of: index) * plane.stride
            // libjpeg's type is not const; it only reads.
            return cjpeg_plane(
                base: UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self)), stride: plane.stride,
                rows: Int32(rows(count, of: index)))
        }
        try check(cjpeg_encoder_write_planes(raw, planes))
    }

    private mutating func encodeWaiting() throws(CodecError) {
        let planes = (0..<format.planeCount).map { waiting.row(0, of: $0, rows: rows(waitingRows, of: $0)) }
        waitingRows = 0
        try check(cjpeg_encoder_write_planes(raw, planes))
    }

    /// Copies rows to where they wait, each prolonged to whole blocks by its last sample.
    private func copy(_ band: Band, from first: Int, rows count: Int) {
        for (index, plane) in band.planes.enumerated() {
            let blocksWidth = waiting.shapes[index].bytesPerRow
            for row in 0..<rows(count, of: index) {
                let source = plane.base + (firstRow(first, of: index) + row) * plane.stride
                let target = waiting.address(row: firstRow(waitingRows, of: index) + row, of: index)
                memcpy(target, source, plane.width)
                let edge = (source + (plane.width - 1)).load(as: UInt8.self)
                memset(target + plane.width, Int32(edge), blocksWidth - plane.width)
            }
        }
    }

    private func check(_ status: cjpeg_status) throws(CodecError) {
        if let error = CodecError(status, cjpeg_encoder_message(raw)) { throw error }
    }
}

extension JPEGGeometry {
    /// The frame that a picture of `format` is encoded to.
    init(encoding format: PictureFormat) {
        let luma = Component(horizontal: format.layout.horizontalFactor, vertical: format.layout.verticalFactor)
        let chroma = Component(horizontal: 1, vertical: 1)
        self.init(
            size: format.size, components: format.planeCount == 1 ? [luma] : [luma, chroma, chroma],
            isProgressive: false, hasMultipleScans: false)
    }
}
