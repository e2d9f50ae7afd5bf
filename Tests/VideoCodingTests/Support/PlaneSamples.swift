import Media

/// Each plane's samples, without what pads the rows.
func samples(_ picture: any PixelPlanes) -> [[UInt8]] {
    picture.withPlanes { set in
        (0..<picture.format.planeCount).map { plane in
            let extent = picture.format.planeExtent(plane, of: picture.size)
            return (0..<extent.rows).flatMap { row in
                Array(set.planes[plane][row * set.strides[plane]..<row * set.strides[plane] + extent.rowBytes])
            }
        }
    }
}
