import CHEIF
import Core

/// Which of libheif's planes are a picture's, in the order of `PlaneLayout`, and of what depth.
struct HEICPlanes: Equatable {
    let layout: PlaneLayout
    let depth: Int
    let channels: [heif_channel]

    /// - Parameter matrix: as in H.273; 0 says that the three coded planes are G, B and R.
    /// - Throws: `unsupported` for planes that no HEVC decoder yields.
    init(_ image: borrowing HEIFImage, matrix: UInt16) throws(CodecError) {
        switch image.coding {
        case .grey:
            layout = .grey
            channels = [heif_channel_Y]
        case .ycbcr(.s444) where matrix == 0:
            layout = .rgb
            channels = [heif_channel_Cr, heif_channel_Y, heif_channel_Cb]
        case .ycbcr(let subsampling):
            layout = .ycbcr(subsampling)
            channels = [heif_channel_Y, heif_channel_Cb, heif_channel_Cr]
        case .rgb:
            layout = .rgb
            channels = [heif_channel_R, heif_channel_G, heif_channel_B]
        case nil: throw CodecError(.unsupported, "planes of an unknown kind")
        }
        guard let depth = image.depth(of: channels[0]), (8...16).contains(depth) else {
            throw CodecError(.unsupported, "samples of an unknown depth")
        }
        for channel in channels.dropFirst() where image.depth(of: channel) != depth {
            throw CodecError(.unsupported, "planes of different depths")
        }
        self.depth = depth
    }

    var bytesPerSample: Int { depth > 8 ? 2 : 1 }

    /// The subsampling of planes 1 and 2 against plane 0.
    var subsampling: ChromaSubsampling {
        if case .ycbcr(let subsampling) = layout { return subsampling }
        return .s444
    }

    /// The planes of an image, valid as long as it lives.
    ///
    /// - Throws: `corrupt` where the image is not of `size` or not of this kind.
    func planes(of image: borrowing HEIFImage, size: PixelSize) throws(CodecError) -> [Plane] {
        var planes: [Plane] = []
        for (index, channel) in channels.enumerated() {
            let expected = index == 0 ? size : subsampling.chromaSize(of: size)
            guard let plane = image.plane(channel), image.depth(of: channel) == depth else {
                throw CodecError(.corrupt, "a plane is missing or of another depth")
            }
            guard plane.width == expected.width, plane.height == expected.height else {
                throw CodecError(.corrupt, "a plane of \(plane.width)x\(plane.height), declared as \(expected)")
            }
            planes.append(plane)
        }
        return planes
    }
}
