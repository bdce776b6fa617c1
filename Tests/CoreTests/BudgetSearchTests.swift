import Core
import Glibc
import Testing

@Suite struct BudgetSearchTests {
    /// A picture by a model: bytes grow by 3 % a step of quality, and more slowly than the area.
    private struct Picture {
        let bytesPerPixel: Double
        let exponent: Double

        func bytes(_ trial: BudgetSearch.Trial) -> Int {
            let area = Double(trial.size.width * trial.size.height)
            return 600 + Int(pow(area, exponent) * bytesPerPixel * exp(0.03 * Double(trial.quality - 60)))
        }
    }

    private func run(_ picture: Picture, _ bytesMax: Int, quality: Int = 90) -> (BudgetSearch.Step, trials: Int) {
        var search = BudgetSearch(
            bytesMax: bytesMax, quality: quality, size: PixelSize(width: 4000, height: 3000), overhead: 600)
        for count in 0... {
            let step = search.next()
            guard case .encode(let trial) = step else { return (step, count) }
            search.record(trial, bytes: picture.bytes(trial))
            if count > 20 { return (step, count) }
        }
        fatalError("counted without end")
    }

    @Test(arguments: [0.7, 0.85, 1], [20_000, 100_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 9_000_000])
    func keepsEveryBudgetAndSpendsIt(exponent: Double, bytesMax: Int) {
        let picture = Picture(bytesPerPixel: 0.1 * pow(12_000_000, 1 - exponent), exponent: exponent)
        let (step, trials) = run(picture, bytesMax)
        guard case .done(let trial) = step else {
            Issue.record("\(step)")
            return
        }
        let bytes = picture.bytes(trial)
        #expect(bytes <= bytesMax)
        #expect(trials <= BudgetSearch.trialsMax + 1)
        #expect(trial.quality >= 60)
        if trial != BudgetSearch.Trial(quality: 90, size: PixelSize(width: 4000, height: 3000)) {
            #expect(bytes * 100 >= bytesMax * 80, "\(bytes) of \(bytesMax): \(trial)")
        }
        // Nothing is shrunk where quality alone does it.
        let floor = picture.bytes(BudgetSearch.Trial(quality: 60, size: PixelSize(width: 4000, height: 3000)))
        #expect((trial.size.width == 4000) == (floor <= bytesMax))
    }

    @Test func aLowerQualityIsItsOwnFloor() {
        let (step, _) = run(Picture(bytesPerPixel: 0.1, exponent: 1), 200_000, quality: 40)
        guard case .done(let trial) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(trial.quality == 40 && trial.size.width < 4000)
    }

    @Test func whatIsOutOfReachIsSaid() {
        let picture = Picture(bytesPerPixel: 0.1, exponent: 1)
        let (step, _) = run(picture, 610)
        #expect(
            step
                == .unreachable(
                    bytesMin: picture.bytes(BudgetSearch.Trial(quality: 60, size: PixelSize(width: 16, height: 12)))))
        let (tight, _) = run(picture, 625)
        guard case .done = tight else {
            Issue.record("\(tight)")
            return
        }
    }
}
