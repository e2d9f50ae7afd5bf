import Foundation
import RTCShareCSDL
import RTCShareMedia
import Testing

@testable import RTCSharePlayback

/// An SDL renderer of a program, whose pixels can be read.
private final class Canvas {
    private typealias MakeSurface =
        @convention(c) (UInt32, Int32, Int32, Int32, UInt32) -> UnsafeMutablePointer<SDL_Surface>?
    private typealias MakeRenderer = @convention(c) (UnsafeMutablePointer<SDL_Surface>) -> OpaquePointer?
    private typealias EndSurface = @convention(c) (UnsafeMutablePointer<SDL_Surface>) -> Void
    private typealias EndRenderer = @convention(c) (OpaquePointer) -> Void
    let renderer: OpaquePointer
    private let surface: UnsafeMutablePointer<SDL_Surface>
    private let library: UnsafeMutableRawPointer

    init(width: Int32, height: Int32) throws {
        library = try #require(dlopen("libSDL2-2.0.so.0", RTLD_NOW))
        let makeSurface = try Self.find("SDL_CreateRGBSurfaceWithFormat", in: library, as: MakeSurface.self)
        let makeRenderer = try Self.find("SDL_CreateSoftwareRenderer", in: library, as: MakeRenderer.self)
        surface = try #require(makeSurface(0, width, height, 32, SDL_PIXELFORMAT_ARGB8888.rawValue))
        renderer = try #require(makeRenderer(surface))
    }

    deinit {
        try? Self.find("SDL_DestroyRenderer", in: library, as: EndRenderer.self)(renderer)
        try? Self.find("SDL_FreeSurface", in: library, as: EndSurface.self)(surface)
        dlclose(library)
    }

    private static func find<Function>(
        _ name: String, in library: UnsafeMutableRawPointer, as type: Function.Type
    ) throws -> Function {
        unsafeBitCast(try #require(dlsym(library, name)), to: type)
    }

    /// Red, green and blue of a pixel.
    func colour(_ x: Int, _ y: Int) -> [Int] {
        guard let pixels = surface.pointee.pixels else { return [] }
        let pixel = pixels.load(fromByteOffset: y * Int(surface.pointee.pitch) + x * 4, as: UInt32.self)
        return [16, 8, 0].map { Int(pixel >> $0 & 255) }
    }

    /// Carries out the renderer's queued commands.
    func flush() throws {
        typealias Flush = @convention(c) (OpaquePointer) -> Int32
        _ = try Self.find("SDL_RenderFlush", in: library, as: Flush.self)(renderer)
    }
}

private let isMissing = SDLLibrary.missing

@Suite("A view that a program draws", .enabled(if: isMissing == nil, "SDL 2 is not installed"))
struct DrawingTests {
    private static let area = PixelRectangle(x: 0, y: 0, size: PixelSize(width: 64, height: 64))

    /// Returns a frame in a layout whose left half is red and whose right half is blue.
    private func halves(_ format: PixelFormat, rotation: VideoRotation = .upright) -> VideoFrame {
        let size = PixelSize(width: 64, height: 32)
        let buffer = PixelBuffer(size: size, format: format) { planes, strides in
            for row in 0..<32 {
                for column in 0..<64 {
                    let isRed = column < 32
                    switch format {
                    case .i420, .nv12:
                        // BT.601, limited range: as full red and blue are in it.
                        planes[0][row * strides[0] + column] = isRed ? 81 : 41
                        let (blue, red): (UInt8, UInt8) = isRed ? (90, 240) : (240, 110)
                        let place = row / 2 * strides[1]
                        if format == .i420 {
                            planes[1][place + column / 2] = blue
                            planes[2][place + column / 2] = red
                        } else {
                            planes[1][place + column / 2 * 2] = blue
                            planes[1][place + column / 2 * 2 + 1] = red
                        }
                    case .bgra, .argb:
                        let bytes: [UInt8] = isRed ? [0, 0, 255, 0] : [255, 0, 0, 0]
                        let ordered = format == .bgra ? bytes : bytes.reversed()
                        for index in 0..<4 { planes[0][row * strides[0] + column * 4 + index] = ordered[index] }
                    }
                }
            }
        }
        return VideoFrame(buffer: buffer, timestamp: .zero, rotation: rotation)
    }

    private func isNear(_ colour: [Int], _ expected: [Int]) -> Bool {
        colour.count == 3 && zip(colour, expected).allSatisfy { abs($0 - $1) <= 12 }
    }

    @Test(
        "A frame has the right colors in every layout, and nothing is drawn outside it",
        arguments: [PixelFormat.i420, .nv12, .bgra, .argb])
    func colours(_ format: PixelFormat) throws {
        let canvas = try Canvas(width: 64, height: 64)
        let view = VideoView()
        view.receive(halves(format))
        #expect(try view.draw(with: canvas.renderer, in: Self.area).didChange)
        try canvas.flush()
        #expect(isNear(canvas.colour(8, 32), [255, 0, 0]), "\(canvas.colour(8, 32))")
        #expect(isNear(canvas.colour(56, 32), [0, 0, 255]), "\(canvas.colour(56, 32))")
        #expect(canvas.colour(8, 8) == [0, 0, 0] && canvas.colour(8, 56) == [0, 0, 0])
        try view.endDrawing()
    }

    @Test("A rotated frame is drawn upright", arguments: VideoRotation.allCases)
    func rotation(_ rotation: VideoRotation) throws {
        let canvas = try Canvas(width: 64, height: 64)
        let view = VideoView()
        view.receive(halves(.i420, rotation: rotation))
        _ = try view.draw(with: canvas.renderer, in: Self.area)
        try canvas.flush()
        // The positions of the halves after a clockwise rotation.
        let (red, blue) =
            switch rotation {
            case .upright: ((8, 32), (56, 32))
            case .quarter: ((32, 8), (32, 56))
            case .half: ((56, 32), (8, 32))
            case .threeQuarters: ((32, 56), (32, 8))
            }
        #expect(isNear(canvas.colour(red.0, red.1), [255, 0, 0]), "\(canvas.colour(red.0, red.1))")
        #expect(isNear(canvas.colour(blue.0, blue.1), [0, 0, 255]), "\(canvas.colour(blue.0, blue.1))")
        try view.endDrawing()
    }

    @Test("A frame is uploaded once, however often it is drawn, and a paused one is darker")
    func again() throws {
        let canvas = try Canvas(width: 64, height: 64)
        let view = VideoView()
        view.receive(halves(.i420))
        #expect(try view.draw(with: canvas.renderer, in: Self.area).didChange)
        #expect(try !view.draw(with: canvas.renderer, in: Self.area).didChange)
        #expect(view.statistics.framesRendered == 1)
        view.muteDidChange(true)
        #expect(try !view.draw(with: canvas.renderer, in: Self.area).didChange)
        try canvas.flush()
        #expect(isNear(canvas.colour(2, 32), [127, 0, 0]), "\(canvas.colour(2, 32))")
        try view.endDrawing()
    }

    @Test("A call from another thread than the first is rejected")
    func otherThread() throws {
        let canvas = try Canvas(width: 64, height: 64)
        let view = VideoView()
        view.receive(halves(.i420))
        _ = try view.draw(with: canvas.renderer, in: Self.area)
        nonisolated(unsafe) let renderer = canvas.renderer
        // Only read here after the other thread has ended.
        nonisolated(unsafe) var errors: [VideoWindowError] = []
        let done = DispatchSemaphore(value: 0)
        Thread {
            do throws(VideoWindowError) {
                _ = try view.draw(with: renderer, in: Self.area)
            } catch {
                errors.append(error)
            }
            do throws(VideoWindowError) {
                try view.endDrawing()
            } catch {
                errors.append(error)
            }
            done.signal()
        }.start()
        // A suspended test could continue on another thread.
        done.wait()
        #expect(errors == [.wrongThread, .wrongThread])
        try view.endDrawing()
    }
}
