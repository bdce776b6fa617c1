import Core
import HTTP

extension Settings {
    /// Everything that is wrong with a command line and its environment, a sentence each: better told at once than one
    /// at each start.
    package struct Complaints: Error, Equatable {
        package let sentences: [String]
    }

    /// Reads the environment's `SAFELIGHT_…` variables and then the flags, which win. A variable that is set but empty
    /// counts as unset.
    ///
    /// Variables of other names are not ours to judge: Kubernetes sets `SAFELIGHT_PORT` and more by itself for a
    /// service that is called "safelight".
    package init(arguments: [String], environment: [String: String]) throws(Complaints) {
        var settings = Settings()
        var sentences = settings.apply(environment: environment, SettingDescriptor.all)
        sentences += settings.apply(flags: arguments)
        if sentences.isEmpty, !settings.listen.isLoopback, !settings.allowsAnonymous {
            sentences.append(
                "refuses to serve \(settings.listen) to everybody who can reach it, for it asks nobody who they are; "
                    + "listen on 127.0.0.1, or say --allow-anonymous if that is what you want")
        }
        if let bytes = settings.bodiesBytesMax, bytes < settings.limits.bodyBytesMax {
            sentences.append("--bodies-max is less than --body-max: the largest body would never find room")
        }
        guard sentences.isEmpty else { throw Complaints(sentences: sentences) }
        self = settings
    }

    /// Applies the environment's variables of these settings; the complaints.
    mutating func apply(environment: [String: String], _ descriptors: [SettingDescriptor]) -> [String] {
        descriptors.compactMap { descriptor in
            guard let value = environment[descriptor.variable], !value.isEmpty else { return nil }
            return apply(descriptor, value, from: descriptor.variable)
        }
    }

    /// Applies one setting, given by a flag or variable; the complaint.
    mutating func apply(_ descriptor: SettingDescriptor, _ value: String, from name: String) -> String? {
        descriptor.apply(value, &self)
            ? nil : "\(name)='\(value.clipped)' is not allowed; \(descriptor.allowed)"
    }

    /// Applies `--flag value`, `--flag=value` and `--switch`; the complaints.
    private mutating func apply(flags arguments: [String]) -> [String] {
        var sentences: [String] = []
        var seen: Set<String> = []
        var lastSwitch: String?
        var rest = Flags(arguments)
        while let flag = rest.next() {
            guard case .flag(let name, var value) = flag else {
                let advice =
                    lastSwitch.map { "--\($0) takes a value as --\($0)=\(flag.text.clipped)" }
                    ?? "settings are given as --name value"
                sentences.append("unexpected '\(flag.text.clipped)'; \(advice)")
                continue
            }
            lastSwitch = nil
            guard let descriptor = SettingDescriptor.all.first(where: { $0.flag == name }) else {
                let known = SettingDescriptor.all.map { "--" + $0.flag }.joined(separator: ", ")
                sentences.append("unknown flag '--\(name.clipped)'; known are: \(known)")
                continue
            }
            if value == nil {
                if descriptor.isSwitch { lastSwitch = name }
                value = descriptor.isSwitch ? "true" : rest.takeValue()
            }
            guard seen.insert(name).inserted else {
                sentences.append("--\(name) is given more than once")
                continue
            }
            guard let value else {
                sentences.append("--\(name) needs a value; \(descriptor.allowed)")
                continue
            }
            if let complaint = apply(descriptor, value, from: flag.name) { sentences.append(complaint) }
        }
        return sentences
    }
}
