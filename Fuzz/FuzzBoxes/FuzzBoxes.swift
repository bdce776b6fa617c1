import Container
import Core
import FuzzPromises

/// The boxes of a HEIF file, up to the point where a decoder would be asked.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: count).span
    let limits = Limits()
    do throws(Failure) {
        let structure = try HEIFStructure(parsing: bytes, limits: limits)
        check(structure, fileBytes: count, limits)
        promise(
            (try? HEIFStructure(parsing: bytes, limits: limits)) == structure, "the second reading says something else")
    } catch {
        error.promiseRefusal()
    }
    return 0
}

private func check(_ structure: HEIFStructure, fileBytes: Int, _ limits: Limits) {
    check(structure.primary, limits)
    if let alpha = structure.alpha { check(alpha, limits) }
    promise(structure.displaySize.width > 0 && structure.displaySize.height > 0, "nothing is shown")
    promise(
        (structure.displaySize.pixels ?? .max) <= (structure.primary.size.pixels ?? 0), "more is shown than there is")
    for extents in structure.exif { check(extents, fileBytes) }
    if case .complete(let extents) = structure.colour.profile { check(extents, fileBytes) }
    promise(
        structure.auxiliaryTypes.allSatisfy {
            $0.utf8.count <= 256 && $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        },
        "an auxiliary type that does not print")
}

private func check(_ picture: HEIFPicture, _ limits: Limits) {
    let size = picture.size
    promise(size.width > 0 && size.height > 0 && (size.pixels ?? .max) <= limits.pixelsMax, "a picture of \(size)")
    guard let grid = picture.grid else { return }
    promise(grid.tiles.count == grid.columns * grid.rows, "tiles are missing")
    let covered = PixelSize(width: grid.columns * grid.tileSize.width, height: grid.rows * grid.tileSize.height)
    promise(covered.width >= size.width && covered.height >= size.height, "\(covered) do not cover \(size)")
    promise((covered.pixels ?? .max) <= limits.pixelsMax, "the tiles are larger than the limit: \(covered)")
}

private func check(_ extents: Extents, _ fileBytes: Int) {
    promise(extents.ranges.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= fileBytes }, "a range beyond the file")
    promise(extents.count > 0 && extents.count <= fileBytes, "\(extents.count) bytes of \(fileBytes)")
}
