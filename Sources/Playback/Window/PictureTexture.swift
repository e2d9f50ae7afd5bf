internal import RTCShareCSDL
internal import RTCShareMedia

/// A frame in a renderer: its pixels are uploaded once, directly from the codec's memory. The renderer scales, rotates
/// and converts colors.
///
/// Used only on the renderer's thread.
final class PictureTexture {
    private let sdl: SDLLibrary
    private let renderer: OpaquePointer
    private var texture: OpaquePointer?
    private var format: (size: PixelSize, pixels: PixelFormat)?
    /// The number of its frame in a view.
    private var frameNumber: Int?

    /// The opacity of the black that covers the frame of a paused source, of 255.
    private static let dimming: UInt8 = 128

    init(sdl: SDLLibrary, renderer: OpaquePointer) {
        self.sdl = sdl
        self.renderer = renderer
    }

    /// Releases the memory, while the renderer exists. A destroyed renderer has released it already.
    func destroy() {
        if let texture { sdl.functions.DestroyTexture(texture) }
        forget()
    }

    /// Discards the texture, which the renderer has reported as lost.
    func forget() {
        texture = nil
        format = nil
        frameNumber = nil
    }

    /// Draws the frame as large as `area` allows. Returns whether it is drawn for the first time.
    func draw(_ appearance: VideoView.Appearance, in area: PixelRectangle) throws(VideoWindowError) -> Bool {
        guard let frame = appearance.frame, let place = ViewLayout.fitted(frame.sizeToBeSeen, in: area) else {
            return false
        }
        let isNew = frameNumber != appearance.frameNumber
        if isNew { try upload(frame) }
        frameNumber = appearance.frameNumber
        guard let texture else { return false }
        try draw(texture, frame.rotation, in: place)
        if appearance.isPaused { try dim(place) }
        return isNew
    }

    private func draw(
        _ texture: OpaquePointer, _ rotation: VideoRotation, in place: PixelRectangle
    ) throws(VideoWindowError) {
        // SDL rotates around the center of the target, which has the frame's unrotated shape.
        var target = place.forSDL
        if rotation == .quarter || rotation == .threeQuarters {
            target = SDL_Rect(
                x: target.x + (target.w - target.h) / 2, y: target.y + (target.h - target.w) / 2, w: target.h,
                h: target.w)
        }
        // All frames use BT.601: see `PixelFormat`. The mode is global to the program, which may draw other frames.
        let mode = sdl.functions.GetYUVConversionMode()
        sdl.functions.SetYUVConversionMode(SDL_YUV_CONVERSION_BT601)
        defer { sdl.functions.SetYUVConversionMode(mode) }
        try sdl.check(
            "drawing a frame",
            sdl.functions.RenderCopyEx(
                renderer, texture, nil, &target, Double(rotation.rawValue), nil, SDL_FLIP_NONE))
    }

    /// Darkens a rectangle, and draws the two bars of a pause in it.
    private func dim(_ place: PixelRectangle) throws(VideoWindowError) {
        try fill(place, red: 0, green: 0, blue: 0, alpha: Self.dimming)
        let side = min(place.size.width, place.size.height) / 6
        let bar = PixelSize(width: side / 3, height: side)
        let (x, y) = (place.x + (place.size.width - side) / 2, place.y + (place.size.height - side) / 2)
        for left in [x, x + side - bar.width] {
            try fill(PixelRectangle(x: left, y: y, size: bar), red: 255, green: 255, blue: 255, alpha: 200)
        }
    }

    private func fill(
        _ place: PixelRectangle, red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8
    ) throws(VideoWindowError) {
        var target = place.forSDL
        _ = sdl.functions.SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
        _ = sdl.functions.SetRenderDrawColor(renderer, red, green, blue, alpha)
        try sdl.check("darkening a frame", sdl.functions.RenderFillRect(renderer, &target))
    }

    private func upload(_ frame: VideoFrame) throws(VideoWindowError) {
        let texture = try texture(of: frame.size, frame.buffer.format)
        let sdl = sdl
        let code = frame.buffer.withPlanes { set -> Int32 in
            // Frames were validated on arrival, so the planes are complete.
            let planes = set.planes.map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
            let strides = set.strides.map { Int32(clamping: $0) }
            return switch frame.buffer.format {
            case .i420:
                sdl.functions.UpdateYUVTexture(
                    texture, nil, planes[0], strides[0], planes[1], strides[1], planes[2], strides[2])
            case .nv12:
                sdl.functions.UpdateNVTexture(texture, nil, planes[0], strides[0], planes[1], strides[1])
            case .bgra, .argb: sdl.functions.UpdateTexture(texture, nil, planes[0], strides[0])
            }
        }
        try sdl.check("taking a frame", code)
    }

    /// Returns the texture for frames of a kind, the current one if it fits.
    private func texture(of size: PixelSize, _ pixels: PixelFormat) throws(VideoWindowError) -> OpaquePointer {
        if let texture, let format, format == (size, pixels) { return texture }
        destroy()
        let made = try sdl.check(
            "memory for a frame of \(size)",
            sdl.functions.CreateTexture(
                renderer, pixels.forSDL.rawValue, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue),
                Int32(clamping: size.width), Int32(clamping: size.height)))
        _ = sdl.functions.SetTextureScaleMode(made, SDL_ScaleModeLinear)
        texture = made
        format = (size, pixels)
        return made
    }
}

extension PixelRectangle {
    var forSDL: SDL_Rect {
        SDL_Rect(
            x: Int32(clamping: x), y: Int32(clamping: y), w: Int32(clamping: size.width),
            h: Int32(clamping: size.height))
    }
}

extension PixelFormat {
    /// SDL's name for the format. It names packed formats from a number's highest byte on, and memory begins with the
    /// lowest; the unused byte must not be transparency.
    fileprivate var forSDL: SDL_PixelFormatEnum {
        switch self {
        case .i420: SDL_PIXELFORMAT_IYUV
        case .nv12: SDL_PIXELFORMAT_NV12
        case .bgra: SDL_PIXELFORMAT_RGB888
        case .argb: SDL_PIXELFORMAT_BGRX8888
        }
    }
}
