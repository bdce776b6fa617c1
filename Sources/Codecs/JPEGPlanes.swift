import CJPEG
import Glibc

/// Owns the samples of some rows, or of a whole picture: up to four planes in one piece of memory, each row on a
/// 64-byte border.
struct JPEGPlanes: ~Copyable {
    /// The shape of one plane.
    struct Shape {
        var bytesPerRow: Int
        var rows: Int

        var stride: Int { (bytesPerRow + 63) / 64 * 64 }
        var bytes: Int { stride * rows }
    }

    let shapes: [Shape]
    private let offsets: [Int]
    private let base: UnsafeMutableRawPointer

    private init(adopting base: UnsafeMutableRawPointer, shapes: [Shape], offsets: [Int]) {
        self.base = base
        self.shapes = shapes
        self.offsets = offsets
    }

    deinit { free(base) }

    /// - Throws: `outOfMemory`.
    static func allocating(_ shapes: [Shape]) throws(CodecError) -> JPEGPlanes {
        var offsets: [Int] = []
        var total = 0
        for shape in shapes {
            offsets.append(total)
            total += shape.bytes
        }
        guard let base = aligned_alloc(64, max(64, total)) else {
            throw CodecError(.outOfMemory, "no \(total) bytes for samples")
        }
        return JPEGPlanes(adopting: base, shapes: shapes, offsets: offsets)
    }

    /// The memory that planes of these shapes take.
    static func bytesNeeded(_ shapes: [Shape]) -> Int { shapes.reduce(0) { $0 + $1.bytes } }

    func address(row: Int = 0, of plane: Int) -> UnsafeMutableRawPointer {
        base + offsets[plane] + row * shapes[plane].stride
    }

    /// Some rows of a plane, as libjpeg's border takes them.
    func row(_ first: Int, of plane: Int, rows: Int) -> cjpeg_plane {
        let base = address(row: first, of: plane).assumingMemoryBound(to: UInt8.self)
        return cjpeg_plane(base: base, stride: shapes[plane].stride, rows: Int32(rows))
    }

    /// All planes, as libjpeg's border takes them.
    func withTable<Result>(_ body: (UnsafePointer<cjpeg_plane>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: cjpeg_plane.self, capacity: Int(CJPEG_COMPONENTS_MAX)) { table in
            table.initialize(repeating: cjpeg_plane())
            for plane in shapes.indices { table[plane] = row(0, of: plane, rows: shapes[plane].rows) }
            guard let base = table.baseAddress else { preconditionFailure("four planes are not none") }
            return body(base)
        }
    }

    /// What a band shows of a plane.
    func plane(_ plane: Int, firstRow: Int = 0, width: Int, height: Int) -> Plane {
        Plane(
            base: UnsafeRawPointer(address(row: firstRow, of: plane)), stride: shapes[plane].stride, width: width,
            height: height)
    }
}
