import Core
import Foundation
import Support
import Testing

@testable import Service

/// `safelight convert` as a process, and how it reads its command line.
@Suite struct ConvertTests {
    private let folder: ScratchFolder
    private let worker: ScriptWorker
    private let jpeg: [UInt8]

    init() throws {
        folder = try ScratchFolder()
        worker = try ScriptWorker(in: folder)
        jpeg = try Program.makeJPEG()
    }

    private func convert(_ arguments: [String], input: [UInt8] = []) throws -> Tool.Outcome {
        try Program.run(["convert", "--worker", worker.path] + arguments, input: input)
    }

    private var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) }
    }

    @Test func convertsAFile() throws {
        let input = try folder.file("in.jpg", jpeg)
        let output = folder.path + "/out.jpg"
        let outcome = try convert([input, "-o", output])
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty)
        #expect(outcome.complaint == "safelight: \(input): warning: header_irregular\n")
        #expect(try folder.read("out.jpg") == jpeg)
        #expect(try names == ["worker", "in.jpg", "out.jpg"])
    }

    @Test func convertsAStream() throws {
        let outcome = try convert(["-", "--output=-", "--quality=50"], input: jpeg)
        #expect(outcome.status == 0)
        #expect(outcome.output == jpeg)
    }

    @Test func replacesAFileOnlyByAPicture() throws {
        let input = try folder.file("in.jpg", jpeg)
        let output = try folder.file("out.jpg", [1, 2, 3])
        let refused = try convert([input, "-o", output, "--quality", "2"])
        #expect(refused.status == 1)
        #expect(refused.complaint == "safelight: \(input): corrupt: not today\n")
        #expect(try folder.read("out.jpg") == [1, 2, 3])
        #expect(try convert([input, "-o", output]).status == 0)
        #expect(try folder.read("out.jpg") == jpeg)
        #expect(try names == ["worker", "in.jpg", "out.jpg"])
    }

    @Test func keepsLinksAndDevicesWhatTheyAre() throws {
        let input = try folder.file("in.jpg", jpeg)
        _ = try folder.file("real.jpg", [1])
        let link = folder.path + "/link.jpg"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.jpg")
        #expect(try convert([input, "-o", link]).status == 0)
        #expect(try folder.read("real.jpg") == jpeg)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.jpg")
        #expect(try convert([input, "-o", "/dev/null"]).status == 0)
        #expect(try Tool.run(["stat", "-c", "%F", "/dev/null"]).text == "character special file\n")
        let full = try convert([input, "-o", "/dev/full"])
        #expect(full.status == 1)
        #expect(full.complaint.contains("No space left"))
    }

    /// Else the JPEG would go to whatever file had got the number since.
    @Test func saysThatAStreamIsMissing() throws {
        let input = try folder.file("in.jpg", jpeg)
        let program = [Program.path, "convert", "--worker", worker.path]
        for (arguments, closing) in [(["-", "-o", folder.path + "/out.jpg"], "<&-"), ([input, "-o", "-"], ">&-")] {
            let outcome = try Tool.run(["sh", "-c", "exec \"$@\" \(closing)", "sh"] + program + arguments, input: jpeg)
            #expect(outcome.status == 1)
            #expect(outcome.complaint.contains("standard input or output: Bad file descriptor"), "\(outcome.complaint)")
        }
        #expect(try names == ["worker", "in.jpg"])
    }

    @Test func keepsTheOriginal() throws {
        let input = try folder.file("in.jpg", jpeg)
        try FileManager.default.linkItem(atPath: input, toPath: folder.path + "/same.jpg")
        for output in [input, folder.path + "/./in.jpg", folder.path + "/same.jpg"] {
            let outcome = try convert([input, "-o", output])
            #expect(outcome.status == 2)
            #expect(outcome.complaint.contains("the original would be lost"))
        }
    }

    @Test func refusesWhatIsNoPhoto() throws {
        let gif = try folder.file("a.gif", Array("GIF89a".utf8))
        let outcome = try convert([gif, "-o", folder.path + "/out.jpg"])
        #expect(outcome.status == 1)
        #expect(
            outcome.complaint
                == "safelight: \(gif): unsupported_media_type: this is image/gif; accepted are HEIC (HEIF coded as HEVC) and JPEG\n"
        )
        #expect(try convert(["-", "-o", "-"]).complaint.hasPrefix("safelight: -: empty_body: "))
        let missing = try convert([folder.path + "/none.jpg", "-o", "-"])
        #expect(missing.status == 1)
        #expect(missing.complaint.contains("No such file"))
        #expect(try convert([folder.path, "-o", "-"]).status == 1)
        #expect(try names == ["worker", "a.gif"])
    }

    private func parse(_ arguments: [String], environment: [String: String] = [:]) throws(Misuse) -> PhotoArguments {
        try PhotoArguments(arguments, environment: environment, hasOutput: true)
    }

    @Test func readsItsCommandLine() throws {
        let request = try parse(["--quality", "7", "a", "-o", "b"], environment: ["SAFELIGHT_WORKER": "w"])
        #expect(request.input == "a" && request.output == "b" && request.settings.worker == "w")
        #expect(request.options == (try Options(parsing: [("quality", "7")])))
        #expect(try parse(["-o", "-", "--", "--a"]).input == "--a")
        // As config/safelight.env has it.
        let beside = try parse(["a", "-o", "-", "--worker", "auto"], environment: ["SAFELIGHT_WORKER": "w"])
        #expect(beside.settings.worker == nil)
        #expect(try parse(["a", "-o", "-"], environment: ["SAFELIGHT_WORKER": "auto"]).settings.worker == nil)
        let allowing = ["SAFELIGHT_ALLOW_UNSANDBOXED": "true"]
        #expect(try parse(["a", "-o", "-"], environment: allowing).settings.allowsUnsandboxed)
        #expect(try parse(["a", "-o", "-", "--allow-unsandboxed"]).settings.allowsUnsandboxed)
        let refusing = try parse(["a", "-o", "-", "--allow-unsandboxed=false"], environment: allowing)
        #expect(!refusing.settings.allowsUnsandboxed)
    }

    /// At once, and not after the time that a busy service would be given.
    @Test func saysWhyNoWorkerStarts() throws {
        let input = try folder.file("in.jpg", jpeg)
        let outcome = try Program.run(["convert", input, "-o", "-", "--worker", "/bin/false"])
        #expect(outcome.status == 1)
        #expect(
            outcome.complaint
                == "safelight: \(input): internal_error: the worker does not start: the worker ended with exit code 1\n"
        )
    }

    @Test func namesTheOutputWhereItCannotBeWritten() throws {
        let input = try folder.file("in.jpg", jpeg)
        let outcome = try convert([input, "-o", "/nowhere/out.jpg"])
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("cannot write /nowhere/out.jpg: open: No such file or directory"))
    }

    @Test(arguments: [
        [], ["a"], ["-o", "b"], ["a", "b", "-o", "c"], ["a", "-o"], ["a", "-o", "b", "-o", "c"],
        ["a", "-o", "b", "--quality", "0"], ["a", "-o", "b", "--quality"], ["a", "-o", "b", "--colour", "red"],
        ["a", "-o", "b", "--quality", "1", "--quality", "1"], ["a", "-x", "-o", "b"],
        ["a", "-o", "b", "--allow-unsandboxed=perhaps"], ["a", "-o", "b", "--worker="],
        ["a", "-o", "b", "--worker", "w", "--worker", "w"], ["", "-o", "b"], ["a", "-o", ""],
    ]) func refusesOtherCommandLines(arguments: [String]) {
        #expect(throws: Misuse.self) { try parse(arguments) }
    }

    @Test func refusesAVariableThatIsNotAllowed() {
        #expect(
            throws: Misuse(sentence: "SAFELIGHT_ALLOW_UNSANDBOXED='yes' is not allowed; allowed are: true, false")
        ) { try parse(["a", "-o", "b"], environment: ["SAFELIGHT_ALLOW_UNSANDBOXED": "yes"]) }
    }

    @Test func helpsAndTellsItsVersion() throws {
        #expect(try Program.run(["version"]).text == "safelight 0.1.0\n")
        #expect(try Program.run([]).status == 2)
        #expect(try Program.run(["polish"]).status == 2)
        #expect(try Program.run(["help", "polish"]).status == 2)
        #expect(try Program.run(["help"]).text == Help.overview)
        let serve = try Program.run(["serve", "--help"]).text
        #expect(SettingDescriptor.all.allSatisfy { serve.contains("  \($0.usage)\n") && serve.contains($0.variable) })
        #expect(SettingDescriptor.all.allSatisfy { serve.contains($0.allowed) })
        for command in ["convert", "inspect"] {
            let help = try Program.run(["help", command]).text
            #expect(try Program.run([command, "-h"]).text == help)
            #expect(OptionDescriptor.all.allSatisfy { help.contains("--\($0.flag) ") })
        }
    }
}
