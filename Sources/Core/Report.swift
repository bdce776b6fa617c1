/// Which way a picture took, cheapest first (the record's `path`).
package enum TranscodePath: String, Sendable, CaseIterable {
    /// Entropy-coded data carried over untouched.
    case copy
    /// DCT coefficients moved, no pixel changed.
    case lossless
    /// Decoded and encoded again.
    case reencode
}

/// Where the orientation that was applied came from (the record's `orientation_source`).
package enum OrientationSource: String, Sendable, CaseIterable {
    /// HEIF item properties: `irot`, `imir`.
    case irot
    case exif
    case none
}

/// A class of data that a source holds beside its picture: a word of the privacy receipt, which tells what of them was
/// removed and what was kept.
package enum Removable: String, Sendable, CaseIterable {
    case exif, gps, makernote, thumbnail, xmp
    case xmpGPS = "xmp_gps"
    case iptc, mpf
    case gainMap = "gain_map"
    case depthMap = "depth_map"
    case auxiliaryImage = "auxiliary_image"
    case additionalImage = "additional_image"
    case alpha
    case motionVideo = "motion_video"
    case trailer, comment, photoshop, c2pa
    case unknownSegment = "unknown_segment"
    case iccProfile = "icc_profile"
    /// What a profile holds beside colours.
    case iccText = "icc_text"
}

extension [Removable: Int] {
    /// Counts `bytes` more of a class; 0 bytes say that it is there.
    package mutating func note(_ kind: Removable, bytes: Int) { self[kind, default: 0] += bytes }
}

/// Something the caller should know though the picture is good.
package enum Warning: String, Sendable, CaseIterable {
    /// The container's orientation and the EXIF tag disagree; the container was followed.
    case orientationConflict = "orientation_conflict"
    /// Orientation stands only in XMP, which is not used.
    case orientationInXMP = "orientation_in_xmp"
    case exifDamaged = "exif_damaged"
    /// More than one EXIF block; the first valid one counts.
    case exifRepeated = "exif_repeated"
    /// A text of EXIF is no UTF-8; it was read as Latin-1.
    case exifLatin1 = "exif_latin1"
    /// The time of the capture stands only in XMP, which is not used.
    case dateInXMP = "date_in_xmp"
    /// Odd but harmless bytes in a JPEG's headers or between its segments.
    case headerIrregular = "header_irregular"
    case iccInvalid = "icc_invalid"
    /// PQ or HLG brought to standard dynamic range by a tone curve.
    case hdrToneMapped = "hdr_tone_mapped"
    /// The file holds other pictures beside the primary one.
    case otherImagesIgnored = "other_images_ignored"
    case alphaFlattened = "alpha_flattened"
}

/// What a worker tells of a finished job: of the JPEG that it wrote, or of the one that it would write where it was to
/// inspect.
package struct Report: Sendable, Equatable {
    package struct Source: Sendable, Equatable {
        package var format: SourceFormat
        /// As stored in the file, before orientation.
        package var size: PixelSize
        package var orientation: Orientation
        package var orientationSource: OrientationSource

        package init(
            format: SourceFormat, size: PixelSize, orientation: Orientation, orientationSource: OrientationSource
        ) {
            self.format = format
            self.size = size
            self.orientation = orientation
            self.orientationSource = orientationSource
        }
    }

    /// The colour spaces by name: an ICC profile's description where it is a well-known one, or a name such as "sRGB",
    /// "Display P3", "BT.2020 PQ", "RGB profile". What a worker says is foreign text: names are cut to 80 characters that
    /// print.
    package struct Color: Sendable, Equatable {
        package let source: String
        package let output: String

        package init(source: String, output: String) {
            self.source = source.printable(scalarsMax: 80)
            self.output = output.printable(scalarsMax: 80)
        }
    }

    package var path: TranscodePath
    /// The JPEG's size, upright.
    package var size: PixelSize
    /// Encoder quality, where the picture was encoded again.
    package var quality: Int?
    package var source: Source
    package var color: Color
    /// The classes of data that the source holds beside its picture, each with its bytes there. Some lie within others:
    /// what `exif` has holds `makernote`.
    package var found: [Removable: Int]
    /// What of that was passed on, cleaned or coarsened as the policy has it; in the order of `Removable.allCases`,
    /// each once.
    package var kept: [Removable]
    package var disclosure: Disclosure
    /// In the order of `Warning.allCases`, each once.
    package var warnings: [Warning]

    package init(
        path: TranscodePath, size: PixelSize, quality: Int?, source: Source, color: Color, found: [Removable: Int],
        kept: Set<Removable> = [], disclosure: Disclosure = Disclosure(), warnings: Set<Warning>
    ) {
        self.path = path
        self.size = size
        self.quality = quality
        self.source = source
        self.color = color
        self.found = found
        self.kept = Removable.allCases.filter(kept.contains)
        self.disclosure = disclosure
        self.warnings = Warning.allCases.filter(warnings.contains)
    }

    /// The privacy receipt: what was found and not passed on, in the order of `Removable.allCases`, each once.
    package var removed: [Removable] { Removable.allCases.filter { found[$0] != nil && !kept.contains($0) } }
}
