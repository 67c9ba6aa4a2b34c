/** Lines and discs as pixels, for crowded pictures.
 *
 * Without a GPU a browser needs 30 ms for thousands of lines and discs on a canvas, and far longer in WebGL, which it then
 * computes itself; this takes a fifth of that.
 */

/** A colour as its pixel in memory, a signed number of 32 bits: red in the lowest byte. */
export type Pixel = number;

const OPAQUE = 0xff000000 | 0;
// Shares of a colour are counted in these, so that products stay within 32 bits, which is three times as fast.
const PARTS = 128;

export class Raster {
  private pixels = new Int32Array(0);
  width = 0;
  height = 0;

  /** Begin a picture of one colour. */
  clear(width: number, height: number, ground: Pixel): void {
    if (this.width !== width || this.height !== height) {
      this.pixels = new Int32Array(width * height);
      this.width = width;
      this.height = height;
    }
    this.pixels.fill(ground);
  }

  /** The bytes red, green, blue and alpha of all pixels, row by row. */
  get bytes(): Uint8ClampedArray<ArrayBuffer> {
    return new Uint8ClampedArray(this.pixels.buffer);
  }

  /** A line one pixel wide, with smooth edges. */
  line(x0: number, y0: number, x1: number, y1: number, colour: Pixel): void {
    const { pixels, width, height } = this;
    const dx = x1 - x0;
    const dy = y1 - y0;
    // The part of it, in shares of its length, that runs within the picture less a rim for what rounding adds.
    const from = Math.max(0, entry(x0 - 1.5, dx, width - 4), entry(y0 - 1.5, dy, height - 4));
    const to = Math.min(1, exit(x0 - 1.5, dx, width - 4), exit(y0 - 1.5, dy, height - 4));
    if (!(from < to)) return;
    // Go pixel by pixel along the longer side, from its lower end; each step colours two pixels that lie across it.
    const flat = Math.abs(dx) >= Math.abs(dy);
    const along = flat ? 1 : width;
    const across = flat ? width : 1;
    const length = flat ? dx : dy;
    const slope = flat ? dy / dx : dx / dy;
    const start = (flat ? x0 : y0) - 0.5;
    const first = Math.round(start + length * (length > 0 ? from : to));
    const last = Math.round(start + length * (length > 0 ? to : from));
    // Where it crosses a step: a whole number, with 16 binary digits for what lies behind the point.
    let crossing = ((flat ? y0 : x0) - 0.5 + (first - start) * slope) * 65536 | 0;
    const change = (slope * 65536) | 0;
    for (let step = first * along; step <= last * along; step += along) {
      const at = step + (crossing >> 16) * across;
      const share = (crossing >> 9) & (PARTS - 1);
      pixels[at] = blended(pixels[at]!, colour, PARTS - share);
      pixels[at + across] = blended(pixels[at + across]!, colour, share);
      crossing = (crossing + change) | 0;
    }
  }

  disc(x: number, y: number, radius: number, colour: Pixel): void {
    const { pixels, width } = this;
    const top = Math.max(0, Math.ceil(y - radius - 0.5));
    const bottom = Math.min(this.height - 1, Math.floor(y + radius - 0.5));
    for (let row = top; row <= bottom; row++) {
      const above = row + 0.5 - y;
      const half = Math.sqrt(Math.max(0, radius * radius - above * above));
      const left = Math.max(0, x - half);
      const right = Math.min(width, x + half);
      if (left >= right) continue;
      const first = Math.ceil(left);
      const last = Math.floor(right);
      const start = row * width;
      if (first > left) pixels[start + first - 1] = blended(pixels[start + first - 1]!, colour, ((first - left) * PARTS) | 0);
      for (let at = start + first; at < start + last; at++) pixels[at] = colour;
      if (last < right) pixels[start + last] = blended(pixels[start + last]!, colour, ((right - last) * PARTS) | 0);
    }
  }
}

/** A pixel with `share` parts of a colour laid over it. */
function blended(below: Pixel, colour: Pixel, share: number): Pixel {
  const left = PARTS - share;
  const redBlue = ((Math.imul(colour & 0xff00ff, share) + Math.imul(below & 0xff00ff, left)) >> 7) & 0xff00ff;
  const green = ((Math.imul(colour & 0xff00, share) + Math.imul(below & 0xff00, left)) >> 7) & 0xff00;
  return OPAQUE | redBlue | green;
}

/** The share of its way at which something that starts at `start` comes between 0 and `most`. */
function entry(start: number, change: number, most: number): number {
  if (change === 0) return start < 0 || start > most ? Infinity : -Infinity;
  return (change > 0 ? -start : most - start) / change;
}

/** The share of its way at which it leaves again. */
function exit(start: number, change: number, most: number): number {
  if (change === 0) return Infinity;
  return (change > 0 ? most - start : -start) / change;
}

/** The pixel of a colour that is written as #rrggbb. */
export function pixelOf(colour: string): Pixel {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return OPAQUE | (blue! << 16) | (green! << 8) | red!;
}
