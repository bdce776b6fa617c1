/// The header of an ICC profile (ICC.1:2022, section 7.2), of which only what a reader of colours needs is kept: the
/// maker, the program, the machine, the day, and bytes that mean nothing are not.
struct ProfileHeader {
    static let byteCount = 128

    /// Major.
    let version: UInt8
    /// Of the device, 1 or 3.
    let channels: Int
    private let kept: [UInt8]

    var isGrey: Bool { channels == 1 }

    /// - Returns: nil where it is no header of a profile for pictures in grey or RGB.
    init?(_ profile: [UInt8]) {
        guard profile.count >= ProfileHeader.byteCount, profile[36..<40].elementsEqual("acsp".utf8),
            (2...4).contains(profile[8])
        else { return nil }
        let words = [12, 16, 20].map { String(decoding: profile[$0..<($0 + 4)], as: UTF8.self) }
        guard ["scnr", "mntr", "prtr", "spac"].contains(words[0]), ["GRAY", "RGB "].contains(words[1]),
            ["XYZ ", "Lab "].contains(words[2])
        else { return nil }
        version = profile[8]
        channels = words[1] == "GRAY" ? 1 : 3
        let minor = profile[9]
        var header = [UInt8](repeating: 0, count: ProfileHeader.byteCount)
        header[8] = version
        header[9] = minor >> 4 < 10 && minor & 15 < 10 ? minor : 0
        header.replaceSubrange(12..<24, with: profile[12..<24])
        // A moment that is valid, and the same for all: 2000-01-01.
        header.replaceSubrange(24..<30, with: [0x07, 0xD0, 0, 1, 0, 1])
        header.replaceSubrange(36..<40, with: profile[36..<40])
        // The bits that are defined: of flags, of attributes, and the rendering intent.
        header[47] = profile[47] & 3
        header[63] = profile[63] & 15
        header[67] = profile[67] & 3
        // D50, as it has to be.
        header.replaceSubrange(68..<80, with: big32(0xF6D6) + big32(0x10000) + big32(0xD32D))
        kept = header
    }

    func bytes(profileSize: Int) -> [UInt8] { big32(profileSize) + kept[4...] }
}
