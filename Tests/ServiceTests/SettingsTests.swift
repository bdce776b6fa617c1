import Core
import Foundation
import HTTP
import Testing

@testable import Service

@Suite struct SettingsTests {
    @Test func hasDefaults() throws {
        let settings = try Settings(arguments: [], environment: ["SAFELIGHT_PORT": "tcp://10.0.0.1:8080", "HOME": "/"])
        #expect(settings == Settings())
        #expect(settings.listen.description == "127.0.0.1:8080")
        #expect(settings.store == "./data")
        #expect(settings.limits.bodyBytesMax == 67_108_864)
        #expect(settings.limits.pixelsMax == 220_000_000)
        #expect(settings.limits.jobDeadlineMs == 20_000)
        #expect(settings.limits.workerBytesMax == 805_306_368)
        #expect(settings.graceMs == 20_000)
    }

    /// The defaults that help texts and config/safelight.env tell are the ones in force.
    @Test(arguments: SettingDescriptor.all.map(\.flag)) func tellsItsDefaults(flag: String) throws {
        let descriptor = try #require(SettingDescriptor.all.first { $0.flag == flag })
        var settings = Settings()
        #expect(descriptor.apply(descriptor.fallback, &settings))
        #expect(settings == Settings())
    }

    @Test func readsFlagsOverEnvironment() throws {
        let settings = try Settings(
            arguments: [
                "--listen", "[::1]:0", "--body-max=20MB", "--job-deadline", "500ms", "--allow-anonymous", "--workers",
                "3",
            ],
            environment: [
                "SAFELIGHT_LISTEN": "127.0.0.1:1", "SAFELIGHT_STORE": "/srv/photos", "SAFELIGHT_GRACE": "2m",
                "SAFELIGHT_MEGAPIXELS_MAX": "50", "SAFELIGHT_WORKER_MEMORY": "1GiB", "SAFELIGHT_WORKER": "",
            ])
        #expect(settings.listen == ListenAddress("[::1]:0"))
        #expect(settings.store == "/srv/photos")
        #expect(settings.allowsAnonymous)
        #expect(settings.workers == 3)
        #expect(settings.worker == nil)
        #expect(settings.limits.bodyBytesMax == 20_000_000)
        #expect(settings.limits.pixelsMax == 50_000_000)
        #expect(settings.limits.jobDeadlineMs == 500)
        #expect(settings.limits.workerBytesMax == 1_073_741_824)
        #expect(settings.graceMs == 120_000)
    }

    @Test(arguments: [
        ("listen", "8080"), ("listen", "::1:8080"), ("listen", "127.0.0.1:65536"), ("store", ""), ("workers", "0"),
        ("workers", "257"), ("workers", "+1"), ("body-max", "1023"), ("body-max", "2GiB"), ("body-max", "64 MiB"),
        ("body-max", "64mib"), ("body-max", "MiB"), ("body-max", "99999999999999999999GiB"), ("job-deadline", "20"),
        ("job-deadline", "99ms"), ("job-deadline", "11m"), ("job-deadline", "1.5s"), ("worker-memory", "1MiB"),
        ("megapixels-max", "0"), ("megapixels-max", "1e3"), ("grace", "-1s"), ("queue", "-1"),
        ("queue", "10001"), ("queue-deadline", "0s"), ("upload-deadline", "25h"), ("bodies-max", "2TiB"),
        ("store-deadline", "11m"), ("allow-anonymous", "yes"),
    ]) func refuses(flag: String, value: String) throws {
        let descriptor = try #require(SettingDescriptor.all.first { $0.flag == flag })
        #expect(throws: Settings.Complaints(sentences: ["--\(flag)='\(value)' is not allowed; \(descriptor.allowed)"]))
        {
            try Settings(arguments: ["--\(flag)=\(value)"], environment: [:])
        }
    }

    /// The bounds themselves are allowed, as the texts of errors and config/safelight.env tell them.
    @Test(arguments: [
        ("workers", "1"), ("workers", "256"), ("body-max", "1KiB"), ("body-max", "256MiB"), ("megapixels-max", "1"),
        ("megapixels-max", "4000"), ("job-deadline", "100ms"), ("job-deadline", "10m"), ("worker-memory", "64MiB"),
        ("worker-memory", "64GiB"), ("grace", "0s"), ("grace", "10m"), ("queue", "0"), ("queue", "10000"),
        ("queue-deadline", "100ms"), ("queue-deadline", "10m"), ("upload-deadline", "1s"), ("upload-deadline", "24h"),
        ("bodies-max", "1TiB"), ("store-deadline", "100ms"), ("store-deadline", "10m"),
    ]) func allowsItsBounds(flag: String, value: String) throws {
        let descriptor = try #require(SettingDescriptor.all.first { $0.flag == flag })
        #expect(descriptor.allowed.contains(value))
        _ = try Settings(arguments: ["--\(flag)=\(value)"], environment: [:])
    }

    @Test func theLargestBodyMustFindRoom() throws {
        #expect {
            try Settings(arguments: ["--bodies-max=64MB"], environment: [:])
        } throws: { error in
            (error as? Settings.Complaints)?.sentences.first?.hasPrefix("--bodies-max is less than --body-max") == true
        }
        #expect(
            try Settings(arguments: ["--bodies-max=1KiB", "--body-max=1KiB"], environment: [:]).bodiesBytesMax == 1024)
    }

    @Test func complainsAboutEverything() {
        #expect {
            try Settings(
                arguments: ["--grace", "--grace=1s", "--grace=2s", "--nonsense", "x"],
                environment: ["SAFELIGHT_WORKERS": "many", "SAFELIGHT_ALLOW_ANONYMOUS": "1"])
        } throws: { error in
            let sentences = (error as? Settings.Complaints)?.sentences ?? []
            return sentences.map { String($0.prefix(25)) } == [
                "SAFELIGHT_ALLOW_ANONYMOUS", "SAFELIGHT_WORKERS='many' ", "--grace needs a value; al",
                "--grace is given more tha", "--grace is given more tha", "unknown flag '--nonsense'",
                "unexpected 'x'; settings ",
            ]
        }
    }

    @Test func tellsHowASwitchTakesAValue() {
        let sentence = "unexpected 'true'; --allow-anonymous takes a value as --allow-anonymous=true"
        #expect(throws: Settings.Complaints(sentences: [sentence])) {
            try Settings(arguments: ["--allow-anonymous", "true"], environment: [:])
        }
    }

    @Test(arguments: ["0.0.0.0:80", "[::]:80", "192.168.1.1:80", ":80", "example.org:80"])
    func asksBeforeServingEverybody(address: String) throws {
        #expect {
            try Settings(arguments: ["--listen", address], environment: [:])
        } throws: { error in
            (error as? Settings.Complaints)?.sentences.first?.contains("--allow-anonymous") == true
        }
        let settings = try Settings(arguments: ["--listen", address, "--allow-anonymous"], environment: [:])
        #expect(settings.listen == ListenAddress(address))
    }

    /// config/safelight.env holds every variable, in the descriptors' order, with its default, and a comment above it.
    @Test func keepsTheEnvironmentFileTrue() throws {
        let text = try String(contentsOf: Repository.file("config/safelight.env"), encoding: .utf8)
        let lines = text.components(separatedBy: "\n")
        let settings = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        #expect(settings == SettingDescriptor.all.map { "\($0.variable)=\($0.fallback)" })
        for (index, line) in lines.enumerated() where settings.contains(line) {
            #expect(index > 0 && lines[index - 1].hasPrefix("# "), "\(line) has no comment")
        }
    }
}
