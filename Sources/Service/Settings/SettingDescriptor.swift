import Core
import HTTP

/// One setting of `serve`: its flag, its environment twin, what it allows, and how its value is read. Parsing, the
/// texts of errors, `--help` and config/safelight.env come from this list, so they cannot drift apart.
package struct SettingDescriptor: Sendable {
    /// The flag without its dashes: "body-max".
    package let flag: String
    /// What stands for the value in help texts; nil for a switch, which needs none.
    package let placeholder: String?
    /// The default, as one would write it.
    package let fallback: String
    /// Completes the sentence "…is not allowed; …".
    package let allowed: String
    package let summary: String
    /// Reads the value into the settings; false where it is not allowed.
    package let apply: @Sendable (String, inout Settings) -> Bool

    /// The environment twin: "SAFELIGHT_BODY_MAX".
    package var variable: String { "SAFELIGHT_" + flag.uppercased().map { $0 == "-" ? "_" : String($0) }.joined() }

    /// Whether the flag alone says "true".
    var isSwitch: Bool { placeholder == nil }

    /// All settings, in the order in which they are shown.
    package static let all: [SettingDescriptor] = [
        SettingDescriptor(
            flag: "listen", placeholder: "HOST:PORT", fallback: "127.0.0.1:8080",
            allowed: "allowed is an address and a port, such as 127.0.0.1:8080 or [::1]:8080",
            summary: "where to listen; beyond this machine only with --allow-anonymous",
            apply: { value, settings in
                guard let address = ListenAddress(value) else { return false }
                settings.listen = address
                return true
            }),
        SettingDescriptor(
            flag: "store", placeholder: "DIR", fallback: "./data", allowed: "allowed is a folder's path",
            summary: "the folder of the stored pictures; made where it is missing",
            apply: { value, settings in
                settings.store = value
                return !value.isEmpty && !value.utf8.contains(0)
            }),
        permission(
            "allow-anonymous", \.allowsAnonymous,
            summary: "serve whoever can reach the address, also beyond this machine; nobody is asked who they are"),
        automatic(
            "workers", "N", \.workers, allowed: "auto (one for each processor), 1 to 256",
            summary: "worker processes that decode and encode",
            read: { Int(digits: $0).flatMap { (1...256).contains($0) ? $0 : nil } }),
        automatic(
            "worker", "FILE", \.worker, allowed: "auto (safelight-worker beside safelight), or a program's path",
            summary: "the program of the worker processes",
            read: { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }),
        permission(
            "allow-unsandboxed", \.allowsUnsandboxed,
            summary: "decode without a sandbox where the kernel has no seccomp, instead of refusing to start"),
        automatic(
            "queue", "N", \.queueLengthMax, allowed: "auto (four for each worker), 0 to 10000",
            summary: "uploads that may wait for a worker; further ones are refused before their body is read",
            read: { Int(digits: $0).flatMap { $0 <= 10_000 ? $0 : nil } }),
        bounded(
            "queue-deadline", .milliseconds, \.waitMs, fallback: "10s", from: "100ms", to: "10m",
            examples: "10s", summary: "how long an upload may wait for a worker"),
        bounded(
            "upload-deadline", .milliseconds, \.bodyMs, fallback: "15m", from: "1s", to: "24h",
            examples: "15m", summary: "how long a body may take to come, however steadily it does"),
        automatic(
            "bodies-max", "SIZE", \.bodiesBytesMax,
            allowed: "auto (256MiB, or --body-max where that is more), a size from 1KiB to 1TiB",
            summary: "the memory of all bodies received or worked on at a time; pictures being sent have as much",
            read: { Quantity.bytes.read($0).flatMap { (1 << 10...1 << 40).contains($0) ? $0 : nil } }),
        bounded(
            "store-deadline", .milliseconds, \.storeMs, fallback: "10s", from: "100ms", to: "10m",
            examples: "10s", summary: "how long the store may take for one call"),
        bounded(
            "body-max", .bytes, \.limits.bodyBytesMax, fallback: "64MiB", from: "1KiB", to: "256MiB",
            examples: "64MiB, 20MB or 5000000", summary: "the largest request body"),
        SettingDescriptor(
            flag: "megapixels-max", placeholder: "N", fallback: "220",
            allowed: "allowed is a whole number from 1 to 4000",
            summary: "the largest picture, in millions of pixels",
            apply: { value, settings in
                guard let count = Int(digits: value), (1...4000).contains(count) else { return false }
                settings.limits.pixelsMax = count * 1_000_000
                return true
            }),
        bounded(
            "job-deadline", .milliseconds, \.limits.jobDeadlineMs, fallback: "20s", from: "100ms", to: "10m",
            examples: "20s", summary: "how long a worker may take for one picture"),
        bounded(
            "worker-memory", .bytes, \.limits.workerBytesMax, fallback: "768MiB", from: "64MiB", to: "64GiB",
            examples: "768MiB", summary: "how much memory a worker may take for one picture"),
        bounded(
            "grace", .milliseconds, \.graceMs, fallback: "20s", from: "0s", to: "10m",
            examples: "20s", summary: "how long requests may go on after SIGTERM"),
    ]

    /// A setting that finds its value by itself, unless one is given.
    private static func automatic<Value>(
        _ flag: String, _ placeholder: String, _ path: any WritableKeyPath<Settings, Value?> & Sendable,
        allowed: String, summary: String, read: @escaping @Sendable (String) -> Value?
    ) -> SettingDescriptor {
        SettingDescriptor(
            flag: flag, placeholder: placeholder, fallback: "auto", allowed: "allowed are: " + allowed,
            summary: summary,
            apply: { text, settings in
                let value = read(text)
                settings[keyPath: path] = text == "auto" ? nil : value
                return text == "auto" || value != nil
            })
    }

    /// A switch that allows what is refused by default.
    private static func permission(
        _ flag: String, _ path: any WritableKeyPath<Settings, Bool> & Sendable, summary: String
    ) -> SettingDescriptor {
        SettingDescriptor(
            flag: flag, placeholder: nil, fallback: "false", allowed: "allowed are: true, false", summary: summary,
            apply: { value, settings in
                guard let flag = Bool(value) else { return false }
                settings[keyPath: path] = flag
                return true
            })
    }

    /// A setting that is an amount between two, which are both allowed.
    private static func bounded(
        _ flag: String, _ quantity: Quantity, _ path: any WritableKeyPath<Settings, Int> & Sendable, fallback: String,
        from least: String, to most: String, examples: String, summary: String
    ) -> SettingDescriptor {
        guard let lower = quantity.read(least), let upper = quantity.read(most) else {
            preconditionFailure("the bounds of \(flag) are written like its values")
        }
        return SettingDescriptor(
            flag: flag, placeholder: quantity.placeholder, fallback: fallback,
            allowed: "allowed is a \(quantity.placeholder.lowercased()) from \(least) to \(most), such as \(examples)",
            summary: summary,
            apply: { value, settings in
                guard let amount = quantity.read(value), (lower...upper).contains(amount) else { return false }
                settings[keyPath: path] = amount
                return true
            })
    }
}

/// Amounts with units, as people write them.
private enum Quantity {
    /// `64MiB` (2^20), `20MB` (10^6), `5000000`.
    case bytes
    /// `500ms`, `20s`, `2m`, `1h`. A bare number would not say what it counts.
    case milliseconds

    var placeholder: String {
        switch self {
        case .bytes: "SIZE"
        case .milliseconds: "TIME"
        }
    }

    private var units: [(name: String, factor: Int)] {
        switch self {
        case .bytes:
            [
                ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("KB", 1000), ("MB", 1_000_000),
                ("GB", 1_000_000_000), ("", 1),
            ]
        case .milliseconds: [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        }
    }

    /// Nil where `text` is no whole number with one of the units, or none that can be counted.
    func read(_ text: String) -> Int? {
        let unit = text.drop { ("0"..."9").contains($0) }
        guard let factor = units.first(where: { $0.name == unit })?.factor,
            let count = Int(digits: text[..<unit.startIndex])
        else { return nil }
        let (value, overflow) = count.multipliedReportingOverflow(by: factor)
        return overflow ? nil : value
    }
}
