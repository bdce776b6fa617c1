/// What a file's headers say of its picture, as far as a plan depends on it.
package struct PictureFacts: Sendable, Equatable {
    /// What a JPEG's headers say beyond that.
    package struct JPEG: Sendable, Equatable {
        /// Grey, or YCbCr in factors that libraries know, so that the coefficients can be moved.
        package var isMovable: Bool
        /// Its quantization fits a baseline picture, so that it can become one without loss.
        package var fitsBaseline: Bool
        /// Every reader reads it as it is: grey or YCbCr, Huffman codes, baseline or progressive. And its coded data are
        /// the picture and nothing else.
        package var isCommon: Bool
        package var isProgressive: Bool
        /// The largest sampling factors: 8 times these is what libjpeg decodes at a time.
        package var factors: PixelSize

        package init(
            isMovable: Bool, fitsBaseline: Bool, isCommon: Bool, isProgressive: Bool, factors: PixelSize
        ) {
            self.isMovable = isMovable
            self.fitsBaseline = fitsBaseline
            self.isCommon = isCommon
            self.isProgressive = isProgressive
            self.factors = factors
        }
    }

    /// As the decoder yields the picture.
    package var size: PixelSize
    /// What is left to be done then.
    package var turn: Orientation
    package var isGrey: Bool
    /// As the decoder yields it; nil where it is no YCbCr, has factors without a name, or is not known yet.
    package var subsampling: ChromaSubsampling?
    /// Its colours have to be converted.
    package var isConverted: Bool
    /// Nil where there are no DCT coefficients to be carried over: for a HEIC and a lossless JPEG.
    package var jpeg: JPEG?

    package init(
        size: PixelSize, turn: Orientation, isGrey: Bool, subsampling: ChromaSubsampling?, isConverted: Bool,
        jpeg: JPEG?
    ) {
        self.size = size
        self.turn = turn
        self.isGrey = isGrey
        self.subsampling = subsampling
        self.isConverted = isConverted
        self.jpeg = jpeg
    }
}

/// How a picture goes its way: a pure function of what its headers say and what is asked.
package struct Plan: Sendable, Equatable {
    /// The ways that keep the promise, cheapest first. What only the data can show (stray bytes, bytes over a budget)
    /// may rule out all but the last.
    package var paths: [TranscodePath]
    package var turn: Orientation
    /// The part of the upright picture that is taken.
    package var crop: PixelRectangle
    /// Of the finished picture; a budget may shrink it further.
    package var size: PixelSize
    package var isProgressive: Bool
    package var subsampling: SubsamplingRule
    package var quality: Int
    package var maxBytes: Int?
    /// The part that is taken, as the decoder yields it.
    package var sourceCrop: PixelRectangle
    /// By what a JPEG is divided while it is decoded: 1, 2, 4 or 8.
    package var divisor: Int

    /// - Throws: `crop_outside`, naming the picture's size.
    package static func make(_ facts: PictureFacts, _ options: Options) throws(Failure) -> Plan {
        let display = facts.size.applying(facts.turn)
        guard let crop = OutputGeometry.rectangle(options.crop, in: display) else {
            throw Failure(.cropOutside, "the crop does not lie inside the picture, which is \(display) upright")
        }
        let size = OutputGeometry.fitting(crop.size, maxWidth: options.maxWidth, maxHeight: options.maxHeight)
        let sourceCrop = crop.applying(facts.turn.inverse, in: display)
        var plan = Plan(
            paths: [.reencode], turn: facts.turn, crop: crop, size: size, isProgressive: options.isProgressive,
            subsampling: options.subsampling, quality: options.quality, maxBytes: options.maxBytes,
            sourceCrop: sourceCrop, divisor: 1)
        guard let jpeg = facts.jpeg else { return plan }
        plan.divisor = divisor(for: sourceCrop, of: facts, to: size.applying(facts.turn.inverse))
        let asked = options.subsampling.fixed
        let isChromaKept = facts.isGrey || asked == nil || asked == facts.subsampling
        guard !facts.isConverted, isChromaKept, size == crop.size else { return plan }
        let mcu = OutputGeometry.mcuSize(facts.subsampling)
        let isMoved =
            jpeg.isMovable && (jpeg.fitsBaseline || jpeg.isProgressive || options.isProgressive)
            && OutputGeometry.canTurnLosslessly(facts.size, facts.subsampling, mcu: mcu, facts.turn)
            && crop.isAligned(to: mcu, in: display)
        if isMoved { plan.paths.insert(.lossless, at: 0) }
        if crop.size == display, facts.turn == .upright, jpeg.isCommon, jpeg.isProgressive || !options.isProgressive {
            plan.paths.insert(.copy, at: 0)
        }
        return plan
    }

    /// The largest divisor that leaves no fewer pixels than are asked for, of a part that falls on the blocks' borders.
    private static func divisor(for part: PixelRectangle, of facts: PictureFacts, to size: PixelSize) -> Int {
        let factors = facts.jpeg?.factors ?? PixelSize(width: 1, height: 1)
        for divisor in [8, 4, 2] {
            let grid = PixelSize(width: divisor * factors.width, height: divisor * factors.height)
            if size.width * divisor <= part.width, size.height * divisor <= part.height,
                part.isAligned(to: grid, in: facts.size)
            {
                return divisor
            }
        }
        return 1
    }

    /// The subsampling of a picture that is encoded at `quality`, nil for grey.
    ///
    /// - Parameter source: of the source, as it lies upright. Others than the three that every reader reads (4:4:0
    ///   comes from turned 4:2:2) are brought to the one of these that holds no less in number of samples, or as many.
    package func subsampling(of source: ChromaSubsampling, quality: Int) -> ChromaSubsampling {
        if let fixed = subsampling.fixed { return fixed }
        guard quality >= 90 else { return .s420 }
        return switch source {
        case .s444: .s444
        case .s422, .s440: .s422
        case .s420, .s411, .s410, .s441: .s420
        }
    }

    /// What the picture's way takes in memory beside its decoder: all of it where it is turned or has to be tried at
    /// several qualities, and the coefficients of a progressive one.
    ///
    /// - Parameters:
    ///   - subsampling: of the finished picture, nil for grey.
    package func bytesNeeded(_ subsampling: ChromaSubsampling?) -> Int {
        let chroma = subsampling.map { $0.chromaSize(of: size) }
        let samples = (size.pixels ?? .max / 16) + 2 * (chroma?.pixels ?? 0)
        let held = (turn == .upright ? 0 : 1) + (maxBytes == nil ? 0 : 1)
        return samples * held + (isProgressive ? 2 * samples : 0)
    }
}
