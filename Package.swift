// swift-tools-version:6.2
import PackageDescription

// The house: each target imports only from layers above its own, never sideways (Transcoding and HTTP never meet).

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
/// For targets that read foreign bytes and call no C: every unsafe expression must say `unsafe`.
let pure = house + [.strictMemorySafety()]

/// A C library of the system: one folder with a module map and a shim header.
func system(_ name: String, pkgConfig: String, apt: [String]) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt(apt)])
}

func library(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = house) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

let package = Package(
    name: "safelight",
    targets: [
        // 0 edges
        system("CHEIF", pkgConfig: "libheif", apt: ["libheif-dev"]),
        system("CTurboJPEG", pkgConfig: "libturbojpeg", apt: ["libturbojpeg0-dev"]),
        system("CEXIF", pkgConfig: "libexif", apt: ["libexif-dev"]),
        system("CZimg", pkgConfig: "zimg", apt: ["libzimg-dev"]),
        system("CLCMS", pkgConfig: "lcms2", apt: ["liblcms2-dev"]),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: ["libmicrohttpd-dev"]),
        system("CSeccomp", pkgConfig: "libseccomp", apt: ["libseccomp-dev"]),
        system("CCrypto", pkgConfig: "libcrypto", apt: ["libssl-dev"]),
        .target(name: "CContract", path: "Sources/C/CContract"),
        .target(name: "CAVLog", path: "Sources/C/CAVLog"),
        .target(name: "CHEVC", path: "Sources/C/CHEVC"),
        .target(name: "CLinux", path: "Sources/C/CLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "CJPEG", path: "Sources/C/CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),

        // 1 words
        library("Core", settings: pure),
        library("Posix", ["CLinux"]),

        // 2 craft
        library("Container", ["Core"], settings: pure),
        library("Metadata", ["Core", "CEXIF"]),
        library(
            "Codecs",
            ["Core", "Posix", "CAVLog", "CHEIF", "CHEVC", "CJPEG", "CLinux", "CTurboJPEG", "CZimg", "CLCMS"]),

        // 3 work
        library("Transcoding", ["Core", "Posix", "Container", "Metadata", "Codecs"]),
        library("Sandbox", ["Posix", "CLinux", "CSeccomp"]),
        library("WorkerPool", ["Core", "Posix"]),
        library("HTTP", ["Core", "Posix", "CMicroHTTPD", "CLinux"]),
        library("Storage", ["Core", "Posix", "CLinux", "CCrypto"]),

        // 4 house
        library("Service", ["Core", "Posix", "Container", "WorkerPool", "Storage", "HTTP", "CContract"]),

        // 5 doors
        .executableTarget(name: "safelight", dependencies: ["Service"], swiftSettings: house),
        .executableTarget(
            name: "safelight-worker", dependencies: ["Core", "Posix", "Codecs", "Transcoding", "Sandbox"],
            swiftSettings: house),

        // Tests
        .target(name: "Support", dependencies: ["Core", "CHEIF"], path: "Tests/Support", swiftSettings: house),
        .executableTarget(
            name: "FuzzSeeds", dependencies: ["Container", "Core", "Support"], path: "Tests/FuzzSeeds",
            swiftSettings: house),
        .executableTarget(
            name: "FaultWorker", dependencies: ["Core", "Posix"], path: "Tests/FaultWorker", swiftSettings: house),
        .target(
            name: "SandboxDeeds", path: "Tests/SandboxDeeds", cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(
            name: "SandboxProbe", dependencies: ["Core", "Posix", "Sandbox", "SandboxDeeds", "CSeccomp"],
            path: "Tests/SandboxProbe", swiftSettings: house),
        tests("CoreTests", ["Core"]),
        tests("PosixTests", ["Posix", "Support"]),
        tests("ContainerTests", ["Core", "Container", "Support"]),
        tests("MetadataTests", ["Container", "Core", "Metadata", "Support"]),
        tests("CodecsTests", ["Codecs", "Container", "Core", "Support"]),
        tests("WorkerPoolTests", ["Core", "Posix", "WorkerPool", "Support"]),
        tests("HTTPTests", ["HTTP", "Posix", "Support"]),
        tests("SandboxTests", ["Core", "Posix", "SandboxDeeds"]),
        tests("TranscodingTests", ["Container", "Core", "Posix", "Support", "Transcoding"]),
        tests("StorageTests", ["Storage", "Core", "Posix", "Support"]),
        tests("ServiceTests", ["Service", "Core", "Posix", "Container", "WorkerPool", "Storage", "HTTP", "Support"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c17
)

// The fuzzers, on request only: libFuzzer brings their `main`, so what has one of its own, and the tests, stand aside.
if Context.environment["SAFELIGHT_FUZZ"] != nil {
    func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(
            name: name, dependencies: ["Core", "FuzzPromises"] + dependencies, path: "Fuzz/\(name)",
            swiftSettings: house)
    }
    let unfuzzed = ["Support", "WorkerPool", "HTTP", "Storage", "Service", "CContract"]
    package.targets.removeAll { $0.type == .executable || $0.type == .test || unfuzzed.contains($0.name) }
    package.targets += [
        .target(name: "FuzzPromises", dependencies: ["Core"], path: "Fuzz/FuzzPromises", swiftSettings: house),
        fuzzer("FuzzSniff", ["Container"]),
        fuzzer("FuzzBoxes", ["Container"]),
        fuzzer("FuzzJPEGSegments", ["Container", "Codecs"]),
        fuzzer("FuzzExif", ["Container", "Metadata"]),
        fuzzer("FuzzJobMessage", []),
        fuzzer("FuzzTranscoder", ["Posix", "Container", "Codecs", "Transcoding"]),
    ]
}

// Only the benchmark builds this.
if Context.environment["SAFELIGHT_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "measure", dependencies: ["Core", "Posix", "Transcoding"], path: "Benchmarks/measure",
            swiftSettings: house))
}
