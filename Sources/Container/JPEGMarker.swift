/// The second byte of a JPEG marker (ITU-T T.81, table B.1).
struct JPEGMarker: RawRepresentable, Sendable, Hashable {
    let rawValue: UInt8

    static let soi = JPEGMarker(rawValue: 0xD8)
    static let eoi = JPEGMarker(rawValue: 0xD9)
    static let sos = JPEGMarker(rawValue: 0xDA)
    static let dqt = JPEGMarker(rawValue: 0xDB)
    static let dnl = JPEGMarker(rawValue: 0xDC)
    static let dri = JPEGMarker(rawValue: 0xDD)
    static let dht = JPEGMarker(rawValue: 0xC4)
    static let dac = JPEGMarker(rawValue: 0xCC)
    static let com = JPEGMarker(rawValue: 0xFE)
    static let tem = JPEGMarker(rawValue: 0x01)

    var isRestart: Bool { (0xD0...0xD7).contains(rawValue) }

    /// SOF0…SOF15: the block C0…CF without DHT, JPG and DAC.
    var isFrame: Bool { (0xC0...0xCF).contains(rawValue) && self != .dht && self != .dac && rawValue != 0xC8 }

    /// n of APPn, or nil.
    var application: Int? { (0xE0...0xEF).contains(rawValue) ? Int(rawValue) - 0xE0 : nil }

    /// Stands alone, with no length after it.
    var isBare: Bool { self == .soi || self == .eoi || self == .tem || isRestart }

    /// Has a meaning in a picture that is no hierarchy. Readers stop at the others (RES, JPG, DHP, EXP, JPGn).
    var isKnown: Bool {
        isBare || isFrame || application != nil || self == .dht || self == .dac || self == .com
            || (0xDA...0xDD).contains(rawValue)
    }

    /// "FFDB"
    var text: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "FF" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
}
