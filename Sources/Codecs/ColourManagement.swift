import CLCMS
import Core

// The owners of Little CMS's objects, all in its global context: it prints no errors, and foreign profiles are full of
// faults. What failed is told by nil.

/// A profile open in Little CMS, which reads its tags only when they are needed.
struct OpenProfile: ~Copyable {
    fileprivate let raw: cmsHPROFILE

    private init(adopting raw: cmsHPROFILE) { self.raw = raw }

    deinit { cmsCloseProfile(raw) }

    private static func owning(_ raw: cmsHPROFILE?) throws(CodecError) -> OpenProfile {
        guard let raw else { throw CodecError(.corrupt, "Little CMS does not read the profile") }
        return OpenProfile(adopting: raw)
    }

    /// - Throws: `corrupt` where the header or the table of tags cannot be read.
    static func reading(_ bytes: [UInt8]) throws(CodecError) -> OpenProfile {
        // Little CMS copies the bytes.
        try owning(cmsOpenProfileFromMem(bytes, UInt32(bytes.count)))
    }

    static func sRGB() throws(CodecError) -> OpenProfile { try owning(cmsCreate_sRGBProfile()) }

    /// A profile of three colorants and one parametric curve (ICC.1:2022, section 10.18) for all three channels.
    static func building(_ space: RGBSpace) throws(CodecError) -> OpenProfile {
        guard let curve = cmsBuildParametricToneCurve(nil, space.curve.type, space.curve.parameters) else {
            throw CodecError(.outOfMemory, "no tone curve")
        }
        defer { cmsFreeToneCurve(curve) }
        var white = space.white.coordinates
        var primaries = cmsCIExyYTRIPLE(
            Red: space.red.coordinates, Green: space.green.coordinates, Blue: space.blue.coordinates)
        let profile = try owning(cmsCreateRGBProfile(&white, &primaries, [curve, curve, curve]))
        cmsSetProfileVersion(profile.raw, 4.3)
        try profile.write(space.name, to: cmsSigProfileDescriptionTag)
        try profile.write("No copyright, use freely", to: cmsSigCopyrightTag)
        return profile
    }

    private func write(_ text: String, to tag: cmsTagSignature) throws(CodecError) {
        guard let localised = cmsMLUalloc(nil, 1) else { throw CodecError(.outOfMemory, "no text") }
        defer { cmsMLUfree(localised) }
        guard cmsMLUsetASCII(localised, "en", "US", text) != 0, cmsWriteTag(raw, tag, UnsafeRawPointer(localised)) != 0
        else { throw CodecError(.outOfMemory, "no tag") }
    }

    /// What kind of device the profile is of, as its header has it.
    var deviceClass: cmsProfileClassSignature { cmsGetDeviceClass(raw) }
    var colourSpace: cmsColorSpaceSignature { cmsGetColorSpace(raw) }
    var connectionSpace: cmsColorSpaceSignature { cmsGetPCS(raw) }

    /// Eight bits a channel, interleaved, as many channels as the profile's space has; 255 is full ink.
    fileprivate var byteFormat: UInt32 { cmsFormatterForColorspaceOfProfile(raw, 1, 0) }

    var channels: Int { Int(cmsChannelsOfColorSpace(colourSpace)) }

    /// The text that names the profile, in English where there is a choice; empty where it cannot be read.
    var description: String {
        withUnsafeTemporaryAllocation(of: wchar_t.self, capacity: 128) { text in
            text.initialize(repeating: 0)
            let bytes = UInt32((text.count - 1) * MemoryLayout<wchar_t>.stride)
            _ = cmsGetProfileInfo(raw, cmsInfoDescription, "en", "US", text.baseAddress, bytes)
            var result = String.UnicodeScalarView()
            for unit in text.prefix(while: { $0 != 0 }) {
                if let scalar = Unicode.Scalar(UInt32(bitPattern: unit)) { result.append(scalar) }
            }
            return String(result)
        }
    }

    /// The profile as a file, or nil where it cannot be written.
    func serialised() -> [UInt8]? {
        var count: UInt32 = 0
        guard cmsSaveProfileToMem(raw, nil, &count) != 0, count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        return cmsSaveProfileToMem(raw, &bytes, &count) != 0 ? bytes : nil
    }
}

/// A way from one profile's colours to another's, eight bits a channel.
struct ProfileLink: ~Copyable {
    private let raw: cmsHTRANSFORM

    private init(adopting raw: cmsHTRANSFORM) { self.raw = raw }

    deinit { cmsDeleteTransform(raw) }

    /// Relative colorimetric with black point compensation: what both spaces hold stays what it is, and shadows are
    /// fitted to what the other can show.
    ///
    /// - Parameter isForTrial: nothing is computed in advance, which is better for a few colours.
    /// - Throws: `corrupt` where the profiles do not hold what that needs, `outOfMemory`.
    static func connecting(
        _ source: borrowing OpenProfile, to target: borrowing OpenProfile, isForTrial: Bool = false
    ) throws(CodecError) -> ProfileLink {
        let flags = cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE | (isForTrial ? cmsFLAGS_NOOPTIMIZE : 0)
        guard
            let raw = cmsCreateTransform(
                source.raw, source.byteFormat, target.raw, target.byteFormat, UInt32(INTENT_RELATIVE_COLORIMETRIC),
                UInt32(flags))
        else { throw CodecError(.corrupt, "Little CMS makes no transform of the profile") }
        return ProfileLink(adopting: raw)
    }

    func convert(_ source: UnsafePointer<UInt8>, _ destination: UnsafeMutablePointer<UInt8>, pixels: Int) {
        cmsDoTransform(raw, source, destination, UInt32(pixels))
    }
}

extension RGBSpace.Chromaticity {
    fileprivate var coordinates: cmsCIExyY { cmsCIExyY(x: x, y: y, Y: 1) }
}
