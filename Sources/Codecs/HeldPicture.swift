import Core
import Glibc

/// All samples of a picture, to be read as often as it takes.
package final class HeldPicture {
    package let format: PictureFormat
    private let planes: JPEGPlanes

    /// Reads `source` to its end.
    ///
    /// - Throws: what the source throws, `outOfMemory`.
    package static func reading<Source: BandSource & ~Copyable>(
        _ source: consuming Source
    ) throws(CodecError) -> HeldPicture {
        let picture = HeldPicture(source.format, try .allocating(source.format.pictureShapes))
        var rows = 0
        while let band = try source.nextBand() {
            picture.take(band)
            rows += band.rows
        }
        // The planes were not cleared: of a source that ends early they would show what was there before.
        guard rows == picture.format.size.height else { throw CodecError(.truncated, "a source that ended early") }
        return picture
    }

    private init(_ format: PictureFormat, _ planes: consuming JPEGPlanes) {
        self.format = format
        self.planes = planes
    }

    private func take(_ band: Band) {
        for (index, plane) in band.planes.enumerated() {
            let firstRow = band.firstRow / format.subsampling(ofPlane: index).vertical
            for row in 0..<plane.height {
                memcpy(
                    planes.address(row: firstRow + row, of: index), plane.base + row * plane.stride,
                    plane.width * format.bytesPerSample)
            }
        }
    }

    /// The picture once more, in one band, which nobody may write to.
    package func bands() -> Bands { Bands(self) }

    package struct Bands: BandSource {
        private let picture: HeldPicture
        private var isRead = false

        fileprivate init(_ picture: HeldPicture) { self.picture = picture }

        package var format: PictureFormat { picture.format }

        package mutating func nextBand() throws(CodecError) -> Band? {
            guard !isRead else { return nil }
            isRead = true
            return Band(
                firstRow: 0, rows: format.size.height,
                planes: (0..<format.planeCount).map { index in
                    let size = format.planeSize(index)
                    return picture.planes.plane(index, width: size.width, height: size.height)
                })
        }
    }
}
