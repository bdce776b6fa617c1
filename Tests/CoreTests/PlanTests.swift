import Core
import Testing

@Suite struct PlanTests {
    private static let common = PictureFacts.JPEG(
        isMovable: true, fitsBaseline: true, isCommon: true, isProgressive: false,
        factors: PixelSize(width: 2, height: 2))

    private func facts(
        _ width: Int, _ height: Int, _ turn: Orientation = .upright, _ subsampling: ChromaSubsampling? = .s420,
        jpeg: PictureFacts.JPEG? = PlanTests.common
    ) -> PictureFacts {
        PictureFacts(
            size: PixelSize(width: width, height: height), turn: turn, isGrey: subsampling == nil,
            subsampling: subsampling, isConverted: false, jpeg: jpeg)
    }

    private func plan(_ facts: PictureFacts, _ pairs: (String, String)...) throws -> Plan {
        try Plan.make(facts, Options(parsing: pairs.map { (name: $0.0, value: $0.1) }))
    }

    @Test func uprightIsCopied() throws {
        #expect(try plan(facts(4000, 3000)).paths == [.copy, .lossless, .reencode])
    }

    @Test(arguments: [
        ("max_width", "4000"), ("max_height", "3000"), ("max_width", "65535"), ("crop", "4:3"),
        ("crop", "0,0,4000,3000"), ("quality", "10"), ("max_bytes", "1MB"), ("subsampling", "420"),
        ("orientation", "ignore"), ("color", "srgb"), ("progressive", "false"),
    ]) func whatDoesNotBindForcesNothing(name: String, value: String) throws {
        #expect(try plan(facts(4000, 3000), (name, value)).paths.first == .copy)
    }

    @Test(arguments: [
        ("max_width", "3999"), ("max_height", "2999"), ("crop", "1:1"), ("crop", "8,16,64,64"), ("subsampling", "444"),
    ]) func whatBindsEncodesAgain(name: String, value: String) throws {
        #expect(try plan(facts(4000, 3000), (name, value)).paths == [.reencode])
    }

    @Test func progressiveIsMetWithoutLoss() throws {
        #expect(try plan(facts(4000, 3000), ("progressive", "true")).paths == [.lossless, .reencode])
        var jpeg = PlanTests.common
        jpeg.isProgressive = true
        #expect(try plan(facts(4000, 3000, jpeg: jpeg), ("progressive", "true")).paths.first == .copy)
    }

    @Test(arguments: [
        ("0,0,16,16", true), ("16,32,64,48", true), ("32,16,3968,2984", true), ("8,0,16,16", false),
        ("0,0,24,16", false), ("16,16,3984,2968", false),
    ]) func losslessCropFallsOnMCUs(crop: String, isLossless: Bool) throws {
        #expect(
            try plan(facts(4000, 3000), ("crop", crop)).paths == (isLossless ? [.lossless, .reencode] : [.reencode]))
    }

    @Test func turnsByTheRuleOfJpegtranAndCropsWhatIsTurned() throws {
        #expect(try plan(facts(4032, 3024, .rotated90)).paths == [.lossless, .reencode])
        #expect(try plan(facts(4000, 3000, .rotated90)).paths == [.reencode])
        let cropped = try plan(facts(4032, 3024, .rotated90), ("crop", "16,32,1600,1600"))
        #expect(cropped.paths == [.lossless, .reencode])
        // Turned clockwise, a column from the left is a row from the bottom.
        #expect(cropped.sourceCrop == PixelRectangle(x: 32, y: 3024 - 16 - 1600, width: 1600, height: 1600))
        #expect(cropped.size == PixelSize(width: 1600, height: 1600))
    }

    @Test func whatCannotBeMovedOrReadIsEncoded() throws {
        var jpeg = PlanTests.common
        jpeg.isCommon = false
        #expect(try plan(facts(64, 64, jpeg: jpeg)).paths == [.lossless, .reencode])
        jpeg.fitsBaseline = false
        #expect(try plan(facts(64, 64, jpeg: jpeg)).paths == [.reencode])
        #expect(try plan(facts(64, 64, jpeg: jpeg), ("progressive", "true")).paths == [.lossless, .reencode])
        jpeg.isMovable = false
        #expect(try plan(facts(64, 64, jpeg: jpeg)).paths == [.reencode])
        var converted = facts(64, 64)
        converted.isConverted = true
        #expect(try plan(converted).paths == [.reencode])
        #expect(try plan(facts(64, 64, jpeg: nil)).paths == [.reencode])
        #expect(try plan(facts(64, 64, .upright, nil), ("subsampling", "444")).paths.first == .copy)
    }

    @Test func limitsAreOfTheUprightPicture() throws {
        let plan = try plan(facts(4000, 3000, .rotated90), ("max_width", "1500"))
        #expect(plan.size == PixelSize(width: 1500, height: 2000))
    }

    @Test func cropOutsideNamesTheSize() {
        let failure = #expect(throws: Failure.self) {
            try plan(facts(4000, 3000, .rotated90), ("crop", "0,0,4000,3000"))
        }
        #expect(failure?.code == .cropOutside)
        #expect(failure?.detail.contains("3000x4000") == true)
    }

    @Test func divisorLeavesEnoughPixels() throws {
        for target in 1...640 {
            let plan = try plan(facts(640, 480), ("max_width", "\(target)"))
            let expected = [8, 4, 2, 1].first { $0 * target <= 640 && $0 * plan.size.height <= 480 }
            #expect(plan.divisor == expected, "\(target)")
        }
        // Off the blocks' borders nothing is divided; on those of halves only, by two.
        #expect(try plan(facts(640, 480), ("max_width", "40"), ("crop", "2,4,320,320")).divisor == 1)
        #expect(try plan(facts(640, 480), ("max_width", "40"), ("crop", "4,8,320,320")).divisor == 2)
        #expect(try plan(facts(640, 480, jpeg: nil), ("max_width", "40")).divisor == 1)
    }

    @Test func subsamplingFollowsSourceAndQuality() throws {
        let plan = try plan(facts(64, 64))
        let named: [ChromaSubsampling: ChromaSubsampling] = [
            .s444: .s444, .s422: .s422, .s440: .s422, .s420: .s420, .s411: .s420, .s410: .s420, .s441: .s420,
        ]
        for source in ChromaSubsampling.allCases {
            #expect(plan.subsampling(of: source, quality: 90) == named[source])
            #expect(plan.subsampling(of: source, quality: 89) == .s420)
            var asked = plan
            asked.subsampling = .s444
            #expect(asked.subsampling(of: source, quality: 10) == .s444)
        }
    }

    @Test func memoryIsCounted() throws {
        let samples = 640 * 480 * 3 / 2
        #expect(try plan(facts(640, 480)).bytesNeeded(.s420) == 0)
        #expect(try plan(facts(640, 480, .rotated90)).bytesNeeded(.s420) == samples)
        #expect(try plan(facts(640, 480, .rotated90), ("max_bytes", "1")).bytesNeeded(.s420) == 2 * samples)
        #expect(try plan(facts(640, 480), ("progressive", "true")).bytesNeeded(.s420) == 2 * samples)
        #expect(try plan(facts(640, 480, .rotated90), ("max_width", "48")).bytesNeeded(.s444) == 48 * 64 * 3)
    }
}
