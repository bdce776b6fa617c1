import Core

/// What an ICC profile says beside how colours look. A screen's profile, which screenshots carry, may hold the screen's
/// serial number, the day on which it was calibrated, and what the program that did it knew of the machine.
package enum ProfileTags {
    /// A profile of nothing but colours.
    package struct Cleaned: Sendable, Equatable {
        package let bytes: [UInt8]
        /// The bytes of the source that are left out and may tell something of a person or a device: texts that are not
        /// well known, private tags, and what lies where nothing should. Not the numbers that no reader needs.
        package let personalBytes: Int
    }

    /// The profile built anew of what readers of colours need: the header's bare facts, the tags that colours are made of,
    /// each of the type that it must have and as long as that type says, a well-known name or "RGB" or "grey", and a
    /// copyright that says nothing. What has been built so is built the same once more.
    ///
    /// - Returns: nil where the profile is not sound, not of grey or RGB, or its tags overlap so that they would take more
    ///   bytes than there are.
    package static func cleaned(_ profile: [UInt8]) -> Cleaned? {
        guard let header = ProfileHeader(profile), let tags = tags(of: profile) else { return nil }
        var cleaner = ProfileCleaner(profile, header)
        for tag in tags where !cleaner.take(tag) { return nil }
        return cleaner.finished(without: tags)
    }

    /// No profile of a picture has as many, and lcms2 reads no more.
    private static let tagsMax = 100

    private static func tags(of profile: [UInt8]) -> [ProfileTag]? {
        let source = ProfileData(profile)
        let start = ProfileHeader.byteCount
        guard let count = try? source.number(4, at: start), count <= min(tagsMax, (profile.count - start - 4) / 12)
        else { return nil }
        var tags: [ProfileTag] = []
        for at in stride(from: start + 4, to: start + 4 + 12 * count, by: 12) {
            guard let from = try? source.number(4, at: at + 4), let length = try? source.number(4, at: at + 8),
                from <= profile.count, length <= profile.count - from
            else { return nil }
            let name = String(decoding: profile[at..<(at + 4)], as: UTF8.self)
            tags.append(ProfileTag(name: name, bytes: from..<(from + length)))
        }
        return tags
    }
}

struct ProfileTag {
    let name: String
    /// Of the profile.
    let bytes: Range<Int>
}

/// Puts a profile together, tag by tag.
private struct ProfileCleaner {
    private let profile: [UInt8]
    private let header: ProfileHeader
    private var contents: [(name: String, bytes: [UInt8])] = []
    private var names: Set<String> = []
    private var personalBytes: Int

    init(_ profile: [UInt8], _ header: ProfileHeader) {
        self.profile = profile
        self.header = header
        personalBytes = profile[100..<128].count { $0 != 0 }
    }

    /// - Returns: whether it is sound.
    mutating func take(_ tag: ProfileTag) -> Bool {
        // The first of a name counts.
        guard !names.contains(tag.name) else {
            personalBytes += tag.bytes.count
            return true
        }
        switch tag.name {
        case "desc", "cprt": takeText(tag)
        case _ where ProfileCleaner.needed[header.isGrey]?.contains(tag.name) == true:
            let data = Array(profile[tag.bytes])
            guard let meaning = try? meaning(of: tag.name, ProfileData(data)) else { return false }
            for (index, byte) in data.enumerated() where byte != 0 && (index >= meaning.count || meaning[index] != byte)
            {
                personalBytes += 1
            }
            add(tag.name, meaning)
        default:
            if !isDull(tag) { personalBytes += tag.bytes.count }
        }
        return true
    }

    func finished(without tags: [ProfileTag]) -> ProfileTags.Cleaned? {
        var table = big32(contents.count)
        var data: [UInt8] = []
        // Tags may share their data, as the three curves mostly do.
        var places: [[UInt8]: Int] = [:]
        let dataStart = ProfileHeader.byteCount + 4 + 12 * contents.count
        var textBytes = 0
        for (name, bytes) in contents {
            let place = places[bytes] ?? dataStart + data.count
            if places.updateValue(place, forKey: bytes) == nil {
                data += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
                // What is written in place of texts may be longer than they were.
                if name == "desc" || name == "cprt" { textBytes += bytes.count + 3 }
                guard data.count - textBytes <= profile.count else { return nil }
            }
            table += Array(name.utf8) + big32(place) + big32(bytes.count)
        }
        return ProfileTags.Cleaned(
            bytes: header.bytes(profileSize: dataStart + data.count) + table + data,
            personalBytes: personalBytes + unclaimedBytes(tags))
    }

    private mutating func add(_ name: String, _ bytes: [UInt8]) {
        names.insert(name)
        contents.append((name, bytes))
    }

    private mutating func takeText(_ tag: ProfileTag) {
        let text = ProfileText.reading(Array(profile[tag.bytes])) ?? ""
        if tag.name == "cprt" {
            if !text.isEmpty, !ProfileText.isMakers(text) { personalBytes += tag.bytes.count }
            add(tag.name, ProfileText.copyright(version: header.version))
            return
        }
        let kind = header.isGrey ? "grey" : "RGB"
        let name = ProfileNames.known(text)
        if name == nil, !text.isEmpty, text != kind { personalBytes += tag.bytes.count }
        add(tag.name, ProfileText.description(name ?? kind, version: header.version))
    }

    /// By ICC.1:2022, section 9.2; the types there and in the profiles' second version.
    private func meaning(of name: String, _ data: ProfileData) throws(ProfileData.Unsound) -> [UInt8] {
        var data = data
        let channels = header.channels
        switch name.prefix(3) {
        case "A2B": try data.takeTable(inputs: channels, outputs: 3, isToConnection: true)
        case "B2A": try data.takeTable(inputs: 3, outputs: channels, isToConnection: false)
        case "D2B": try data.takeElements(inputs: channels, outputs: 3)
        case "B2D": try data.takeElements(inputs: 3, outputs: channels)
        case "cha": try data.takePlain("sf32", count: 36)
        case "cic": try data.takePlain("cicp", count: 4)
        case _ where name.hasSuffix("TRC"): try data.takeCurve()
        default: try data.takePlain("XYZ ", count: 12)
        }
        return try data.meaning()
    }

    private static let tables = [
        "A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "B2D0", "B2D1", "B2D2", "B2D3", "D2B0", "D2B1", "D2B2", "D2B3",
        "chad", "cicp", "wtpt",
    ]
    /// By whether the profile is of grey.
    private static let needed: [Bool: Set<String>] = [
        true: Set(tables + ["kTRC"]),
        false: Set(tables + ["rTRC", "gTRC", "bTRC", "rXYZ", "gXYZ", "bXYZ"]),
    ]

    /// Standard tags of numbers that colours do not need, each with its types.
    private static let dull: [String: Set<String>] = [
        "bkpt": ["XYZ "], "lumi": ["XYZ "], "meas": ["meas"], "tech": ["sig "], "view": ["view"], "chrm": ["chrm"],
        "ciis": ["sig "], "rig0": ["sig "], "rig2": ["sig "], "gamt": ["mft1", "mft2", "mBA "],
        "pre0": ["mft1", "mft2", "mBA "], "pre1": ["mft1", "mft2", "mBA "], "pre2": ["mft1", "mft2", "mBA "],
    ]

    private func isDull(_ tag: ProfileTag) -> Bool {
        let data = Array(profile[tag.bytes])
        if ["dmnd", "dmdd", "vued"].contains(tag.name) {
            return ProfileText.reading(data).map(ProfileText.dull.contains) ?? false
        }
        guard let type = try? ProfileData(data).type() else { return data.isEmpty }
        return ProfileCleaner.dull[tag.name]?.contains(type) ?? false
    }

    /// What lies in no tag and is not zero.
    private func unclaimedBytes(_ tags: [ProfileTag]) -> Int {
        var count = 0
        var end = min(ProfileHeader.byteCount + 4 + 12 * tags.count, profile.count)
        for range in tags.map(\.bytes).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > end { count += profile[end..<range.lowerBound].count { $0 != 0 } }
            end = max(end, range.upperBound)
        }
        return count + profile[end...].count { $0 != 0 }
    }
}
