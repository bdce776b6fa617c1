package import Core
import Foundation

/// Makes JPEGs of every kind with independent tools, and reads them with such.
package enum JPEGPictures {
    /// Interleaved RGB with detail by arithmetic over the test pattern, so that codes of all lengths occur.
    package static func textured(_ width: Int, _ height: Int) -> [UInt8] {
        var state: UInt32 = 12345
        return TestPattern(width, height).rgbBytes.map { value in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(clamping: Int(value) + Int(state >> 26) - 32)
        }
    }

    /// Codes the textured picture with cjpeg.
    ///
    /// - Parameter options: cjpeg's, e.g. `["-sample", "2x2", "-progressive"]`.
    package static func cjpeg(_ width: Int, _ height: Int, _ options: [String]) throws -> [UInt8] {
        let pixmap = Array("P6\n\(width) \(height)\n255\n".utf8) + textured(width, height)
        return try output(["cjpeg", "-dct", "int"] + options, input: pixmap)
    }

    /// Codes the textured picture with Pillow, in its mode CMYK: four components, with an Adobe marker, inverted.
    package static func cmyk(_ width: Int, _ height: Int) throws -> [UInt8] {
        try python(
            """
            import io, sys
            from PIL import Image
            picture = Image.frombytes("RGB", (\(width), \(height)), sys.stdin.buffer.read()).convert("CMYK")
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=90)
            sys.stdout.buffer.write(out.getvalue())
            """, input: textured(width, height))
    }

    /// The first component's samples as djpeg decodes them, to a part of the size if asked.
    package static func luma(_ jpeg: [UInt8], scale: String = "1/1") throws -> [UInt8] {
        try samples(["-grayscale", "-scale", scale], jpeg)
    }

    /// Interleaved RGB as djpeg decodes it, chroma upsampled smoothly.
    package static func rgb(_ jpeg: [UInt8]) throws -> [UInt8] {
        try samples(["-rgb"], jpeg)
    }

    private static func samples(_ options: [String], _ jpeg: [UInt8]) throws -> [UInt8] {
        let pixmap = try output(["djpeg", "-dct", "int", "-pnm"] + options, input: jpeg)
        // The header is three lines, none of them a comment.
        var rest = pixmap[...]
        for _ in 0..<3 { rest = rest.drop { $0 != 0x0A }.dropFirst() }
        return Array(rest)
    }

    /// A picture's samples in one of Pillow's modes, interleaved; `YCbCr` is decoded without a colour conversion.
    package static func pillow(_ mode: String, _ jpeg: [UInt8]) throws -> [UInt8] {
        try python(
            """
            import io, sys
            from PIL import Image
            picture = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            picture.draft("\(mode)", picture.size)
            assert picture.mode == "\(mode)", picture.mode
            sys.stdout.buffer.write(picture.tobytes())
            """, input: jpeg)
    }

    /// The planes as they are coded, one after the other, by TurboJPEG's decoder.
    package static func planes(_ jpeg: [UInt8]) throws -> [UInt8] {
        try python(
            turboJPEG + """
                turbo.tjInitDecompress.restype = c_void_p
                handle = c_void_p(turbo.tjInitDecompress())
                width, height, sampling, space = c_int(), c_int(), c_int(), c_int()
                source = sys.stdin.buffer.read()
                assert turbo.tjDecompressHeader3(handle, source, c_ulong(len(source)), byref(width), byref(height),
                                                 byref(sampling), byref(space)) == 0
                turbo.tjBufSizeYUV2.restype = c_ulong
                out = create_string_buffer(turbo.tjBufSizeYUV2(width, 1, height, sampling) + 1)
                assert turbo.tjDecompressToYUV2(handle, source, c_ulong(len(source)), out, width, 1, height, 4096) == 0
                stride = turbo.tjPlaneWidth(0, width, sampling)
                for row in range(height.value):
                    sys.stdout.buffer.write(out.raw[row * stride:row * stride + width.value])
                sys.stdout.buffer.write(out.raw[stride * turbo.tjPlaneHeight(0, height, sampling):-1])
                """, input: jpeg)
    }

    /// How TurboJPEG shall code planes.
    package struct Coding: Sendable {
        package let quality: Int
        package let isProgressive: Bool

        package init(quality: Int, isProgressive: Bool) {
            self.quality = quality
            self.isProgressive = isProgressive
        }
    }

    /// Codes planes that stand one after the other with TurboJPEG, once for each of `codings`.
    ///
    /// - Parameter sampling: TurboJPEG's number: 0 for 4:4:4, then 4:2:2, 4:2:0, grey, 4:4:0, 4:1:1.
    package static func turboJPEG(
        planes: [UInt8], _ size: PixelSize, sampling: Int, _ codings: [Coding]
    ) throws -> [[UInt8]] {
        let flags = codings.map { "(\($0.quality), \(4096 + ($0.isProgressive ? 16384 : 0)))" }
        return try pieces(
            turboJPEG + """
                turbo.tjInitCompress.restype = c_void_p
                handle = c_void_p(turbo.tjInitCompress())
                # TurboJPEG's luma is as wide and high as its chroma can cover: filled up with the last samples.
                planes = sys.stdin.buffer.read()
                width, height = \(size.width), \(size.height)
                fill = turbo.tjPlaneWidth(0, width, \(sampling)) - width
                rows = [planes[row * width:(row + 1) * width] for row in range(height)]
                rows = [row + row[-1:] * fill for row in rows]
                rows += rows[-1:] * (turbo.tjPlaneHeight(0, height, \(sampling)) - height)
                source = b"".join(rows) + planes[width * height:]
                for quality, flags in [\(flags.joined(separator: ", "))]:
                    out, count = c_void_p(), c_ulong()
                    assert turbo.tjCompressFromYUV(handle, source, width, 1, height, \(sampling), byref(out),
                                                   byref(count), quality, flags) == 0
                    yield_piece(string_at(out, count.value))
                """, input: planes)
    }

    /// Samples of one kind, to be turned.
    package struct Raster: Sendable {
        package let mode: String
        package let size: PixelSize
        package let samples: [UInt8]

        /// - Parameter mode: Pillow's: `L` for one byte a sample, `RGB` for three.
        package init(mode: String, size: PixelSize, samples: [UInt8]) {
            self.mode = mode
            self.size = size
            self.samples = samples
        }
    }

    /// Turns samples with Pillow, as its own reading of the tag Orientation has it.
    package static func turned(_ rasters: [Raster], _ orientation: Orientation) throws -> [[UInt8]] {
        let shapes = rasters.map { "(\"\($0.mode)\", \($0.size.width), \($0.size.height))" }
        return try pieces(
            """
            import sys
            from PIL import Image, ImageOps
            for mode, width, height in [\(shapes.joined(separator: ", "))]:
                samples = sys.stdin.buffer.read(width * height * len(mode))
                picture = Image.frombytes(mode, (width, height), samples)
                picture.getexif()[0x0112] = \(orientation.rawValue)
                yield_piece(ImageOps.exif_transpose(picture).tobytes())
            """, input: rasters.flatMap(\.samples))
    }

    /// What a script hands to `yield_piece`, in order.
    private static func pieces(_ script: String, input: [UInt8]) throws -> [[UInt8]] {
        let output = try python(
            """
            import sys
            def yield_piece(piece):
                sys.stdout.buffer.write(len(piece).to_bytes(4, "big") + piece)

            """ + script, input: input)
        var pieces: [[UInt8]] = []
        var rest = output[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            pieces.append(Array(rest.dropFirst(4).prefix(count)))
            rest = rest.dropFirst(4 + count)
        }
        return pieces
    }

    private static let turboJPEG = """
        import sys
        from ctypes import *
        turbo = CDLL("libturbojpeg.so.0")

        """

    /// An APP1 segment with an EXIF block that holds the tag Orientation alone.
    package static func exif(orientation: UInt8) -> [UInt8] {
        let directory: [UInt8] = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        let body = Array("Exif\0\0MM\0*\0\0\0\u{08}".utf8) + directory
        return segment(0xE1, body)
    }

    /// The ICC profile of sRGB, and in it more tags that all hold `text`.
    package static func profile(adding tags: [String], text: String) throws -> [UInt8] {
        try python(
            """
            import struct, sys
            from PIL import ImageCms
            old = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
            count, = struct.unpack(">I", old[128:132])
            more = sys.stdin.read().split()
            text = b"text\\0\\0\\0\\0" + more.pop(0).encode() + b"\\0"
            text += b"\\0" * (-len(text) % 4)
            rows = [struct.unpack(">4sII", old[132 + 12 * i:144 + 12 * i]) for i in range(count)]
            shift = 12 * len(more)
            end = len(old) + shift
            rows = [(name, at + shift, size) for name, at, size in rows]
            rows += [(name.encode(), end + i * len(text), len(text)) for i, name in enumerate(more)]
            data = old[132 + 12 * count:] + text * len(more)
            table = struct.pack(">I", len(rows)) + b"".join(struct.pack(">4sII", *row) for row in rows)
            size = struct.pack(">I", 128 + len(table) + len(data))
            sys.stdout.buffer.write(size + old[4:128] + table + data)
            """, input: Array(([text] + tags).joined(separator: " ").utf8))
    }

    /// A marker segment.
    package static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }

    /// Where the first segment of a kind begins.
    package static func offset(of marker: UInt8, in jpeg: [UInt8]) -> Int? {
        var position = 2
        while position + 3 < jpeg.count, jpeg[position] == 0xFF {
            if jpeg[position + 1] == marker { return position }
            position += 2 + Int(jpeg[position + 2]) << 8 + Int(jpeg[position + 3])
        }
        return nil
    }

    /// The segments' kinds up to the first scan, in their order.
    package static func segmentMarkers(_ jpeg: [UInt8]) throws -> [UInt8] {
        var markers: [UInt8] = []
        var position = 2
        while position + 3 < jpeg.count, jpeg[position] == 0xFF {
            markers.append(jpeg[position + 1])
            if jpeg[position + 1] == 0xDA { return markers }
            position += 2 + Int(jpeg[position + 2]) << 8 + Int(jpeg[position + 3])
        }
        throw Incomplete()
    }

    /// Where the first scan's entropy-coded data begins.
    package static func dataOffset(_ jpeg: [UInt8]) throws -> Int {
        guard let scan = offset(of: 0xDA, in: jpeg) else { throw Incomplete() }
        return scan + 2 + Int(jpeg[scan + 2]) << 8 + Int(jpeg[scan + 3])
    }

    package struct Incomplete: Error {}

    /// Peak signal-to-noise ratio in decibels; infinite for equals.
    package static func psnr(_ first: [UInt8], _ second: [UInt8]) -> Double {
        guard first.count == second.count, !first.isEmpty else { return -.infinity }
        let sum = zip(first, second).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
        return 10 * log10(255 * 255 * Double(first.count) / Double(sum))
    }

    package static func python(_ script: String, input: [UInt8]) throws -> [UInt8] {
        try output(["/usr/bin/python3", "-c", script], input: input)
    }

    /// What a tool writes; it must succeed.
    package static func output(_ arguments: [String], input: [UInt8]) throws -> [UInt8] {
        let outcome = try Tool.run(arguments, input: input)
        guard outcome.status == 0 else { throw ToolFailed(tool: arguments[0], complaint: outcome.complaint) }
        return outcome.output
    }

    package struct ToolFailed: Error {
        package let tool: String
        package let complaint: String
    }
}
