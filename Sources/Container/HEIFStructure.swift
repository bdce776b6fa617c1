package import Core

/// What a HEIC file is made of: its primary picture and how it is to be shown, and what else it holds.
package struct HEIFStructure: Sendable, Equatable {
    /// A change that the file asks for after decoding.
    package enum Transform: Sendable, Equatable {
        /// `irot` or `imir`
        case orientation(Orientation)
        /// `clap`, as a rectangle of the picture as it is at this step.
        case crop(PixelWindow)
    }

    /// What the numbers of the samples mean, as the container tells it. Matrix and range are those of `description`,
    /// the appearance is that of `profile` where there is one.
    package struct Colour: Sendable, Equatable {
        package var description: ColourDescription?
        package var profile: EmbeddedProfile = .absent
    }

    package let primary: HEIFPicture
    /// In the order in which they apply.
    package let transforms: [Transform]
    /// Of `irot` and `imir` together; nil where the picture has neither, and EXIF has the word. (An `irot` of 0 is
    /// one.)
    package let orientation: Orientation?
    /// After all transforms.
    package let displaySize: PixelSize
    /// Of the primary picture, or of its tiles where it says nothing.
    package let colour: Colour
    /// The primary picture's alpha plane.
    package let alpha: HEIFPicture?
    /// URNs of all auxiliary pictures, in no order: printable ASCII, at most 256 characters.
    package let auxiliaryTypes: Set<String>
    /// The TIFF bytes of each Exif item of the primary picture (4-byte offset and `Exif\0\0` resolved), in file order;
    /// at most `HEIFContents.exifItemsMax`.
    package let exif: [Extents]
    package let xmp: XMPFindings
    /// What there is beside the primary picture, in bytes; of `exif` the items, whose content is not looked into.
    package let found: [Removable: Int]
    package let warnings: Set<Warning>

    /// - Throws: `corrupt`, `truncated`, `too_many_pixels`; `unsupported_media_type` where the primary picture's coding
    ///   is not HEVC.
    package init(parsing bytes: Span<UInt8>, limits: Limits) throws(Failure) {
        let file = try HEIFFile(bytes)
        let meta = try HEIFMeta(file.meta, of: bytes)
        guard let primaryID = meta.primaryID else { throw Failure(.corrupt, "HEIF: there is no box 'pitm'") }
        let primary = try HEIFPicture(primaryID, of: meta, in: bytes, limits: limits)
        let presentation = try Presentation(primary, of: meta)
        var contents = HEIFContents(primaryID, of: meta, in: bytes)
        if let alphaID = contents.alphaID {
            alpha = try HEIFPicture(alphaID, of: meta, in: bytes, limits: limits)
        } else {
            alpha = nil
        }
        contents.take(file)
        self.primary = primary
        transforms = presentation.transforms
        orientation = presentation.orientation
        displaySize = presentation.size
        colour = presentation.colour
        auxiliaryTypes = contents.auxiliaryTypes
        exif = contents.exif
        xmp = contents.xmp
        found = contents.found
        warnings = contents.warnings
    }
}

extension HEIFStructure {
    /// How the primary picture's properties want it shown.
    private struct Presentation {
        var transforms: [Transform] = []
        var orientation: Orientation?
        var size: PixelSize
        var colour = Colour()

        init(_ picture: HEIFPicture, of meta: HEIFMeta) throws(Failure) {
            size = picture.size
            let properties = meta.items[picture.id]?.properties ?? []
            for property in properties {
                switch property {
                case .rotation(let turn), .mirror(let turn):
                    orientation = (orientation ?? .upright).followed(by: turn)
                    transforms.append(.orientation(turn))
                    size = size.applying(turn)
                case .cleanAperture(let aperture):
                    guard let window = aperture.window(in: size) else {
                        throw Failure(.corrupt, "HEIF: 'clap' does not lie within the picture of \(size)")
                    }
                    transforms.append(.crop(window))
                    size = window.size
                default: break
                }
            }
            // The iPhone 7 puts the colour on the tiles alone.
            if !takeColour(of: properties), let tile = picture.grid?.tiles.first {
                _ = takeColour(of: meta.items[tile]?.properties ?? [])
            }
        }

        /// - Returns: whether there is any.
        private mutating func takeColour(of properties: [HEIFProperty]) -> Bool {
            for property in properties {
                switch property {
                case .colour(let description) where colour.description == nil: colour.description = description
                case .profile(let range) where colour.profile == .absent: colour.profile = .complete(Extents(range))
                default: break
                }
            }
            return colour != Colour()
        }
    }
}
