/// What an ICC profile says beside how colours look. A screen's profile, which screenshots carry, may hold the screen's serial
/// number, the day on which it was calibrated, and what the program that did it knew of the machine.
package enum ProfileTags {
    private static let headerBytes = 128
    private static let identifier = 84..<100

    /// The tags of ICC.1:2022, section 9.2, and of its second version, that colours are made of, and those that name the
    /// profile and its kind of device. Not among them: `calt`, `meta`, `pseq`, `psid`, `targ`; and no private ones, such as
    /// Apple's `mmod`, which is the serial number.
    private static let kept = Set(
        [
            "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "B2D0", "B2D1", "B2D2", "B2D3", "D2B0", "D2B1", "D2B2",
            "D2B3", "bTRC", "bXYZ", "bkpt", "chad", "chrm", "cicp", "ciis", "clro", "clrt", "cprt", "desc", "dmdd",
            "dmnd", "gTRC", "gXYZ", "gamt", "kTRC", "lumi", "meas", "ncl2", "pre0", "pre1", "pre2", "rTRC", "rXYZ",
            "rig0", "rig2", "tech", "view", "vued", "wtpt",
        ].map { Array($0.utf8) })

    private struct Tag {
        let name: [UInt8]
        let bytes: Range<Int>
    }

    /// The profile without the other tags; itself where it has none of them.
    ///
    /// - Parameter profile: proved sound by whoever reads profiles; of one whose table is not, nothing is changed.
    package static func coloursOnly(_ profile: [UInt8]) -> [UInt8] {
        guard let tags = tags(of: profile) else { return profile }
        let left = tags.filter { kept.contains($0.name) }
        if left.count == tags.count { return profile }
        var table = big32(left.count)
        var data: [UInt8] = []
        // Tags may share their data, as the three curves mostly do.
        var places: [Range<Int>: Int] = [:]
        let dataStart = headerBytes + 4 + 12 * left.count
        for tag in left {
            let place = places[tag.bytes] ?? dataStart + data.count
            if places.updateValue(place, forKey: tag.bytes) == nil {
                data += profile[tag.bytes]
                data += [UInt8](repeating: 0, count: (4 - data.count % 4) % 4)
            }
            table += tag.name + big32(place) + big32(tag.bytes.count)
        }
        var header = Array(profile[..<headerBytes])
        header.replaceSubrange(0..<4, with: big32(dataStart + data.count))
        // The digest of what it was; zeros say that there is none (section 7.2.18).
        header.replaceSubrange(identifier, with: [UInt8](repeating: 0, count: identifier.count))
        return header + table + data
    }

    private static func tags(of profile: [UInt8]) -> [Tag]? {
        func number(at offset: Int) -> Int { profile[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        guard profile.count >= headerBytes + 4 else { return nil }
        let count = number(at: headerBytes)
        guard count <= (profile.count - headerBytes - 4) / 12 else { return nil }
        var tags: [Tag] = []
        for index in 0..<count {
            let at = headerBytes + 4 + 12 * index
            let (start, length) = (number(at: at + 4), number(at: at + 8))
            guard start <= profile.count, length <= profile.count - start else { return nil }
            tags.append(Tag(name: Array(profile[at..<(at + 4)]), bytes: start..<(start + length)))
        }
        return tags
    }
}
