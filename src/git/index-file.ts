const HEADER = 12;
const SIGNATURE_AND_SIZE = 8;
/** In an entry: where its flags are, and where its path starts, if its object name has twenty bytes. */
const [FLAGS, PATH] = [60, 62];
const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
const [ASSUME_VALID, EXTENDED, PATH_LENGTH] = [0x8000, 0x4000, 0x0fff];
const SLASH = 47;
/** Extensions that leave the entries what they are: cached trees, resolved conflicts, the untracked and the fsmonitor cache. */
const HARMLESS = new Set(["TREE", "REUC", "UNTR", "FSMN"]);

/** What is told of an index while it is read. */
export interface IndexListener {
  /** The directory of the files that follow; "" is the top. */
  readonly seeDirectory: (path: string) => void;
  /** The name of a file in that directory. */
  readonly seeName: (name: string) => void;
}

/**
 * Reads the paths of an index in its plainest form, which nearly every index has: version 2, no bit that hides an edit, no extension that makes
 * git look for entries elsewhere (gitformat-index(5)). Returns false for every other index, a broken one too: git is to be asked about that, and
 * what was seen before is void.
 * Of the names, only those with one of the `endings` are told: to make text of every name takes longer than git does for the whole.
 *
 * As git does, it believes the lengths in the file and not its checksum, which git leaves unchecked as well.
 */
export function readPlainIndex(
  bytes: Buffer,
  sha256: boolean,
  endings: ReadonlySet<number>,
  listener: IndexListener,
): boolean {
  const objectName = sha256 ? SHA256_BYTES : SHA1_BYTES;
  const toPath = PATH - SHA1_BYTES + objectName;
  const end = bytes.length - objectName;
  if (end < HEADER || bytes.toString("latin1", 0, 4) !== "DIRC" || bytes.readUInt32BE(4) !== 2) return false;
  /** Where the directory of the entry before is. */
  let last = { start: 0, stop: -1 };
  let at = HEADER;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at + toPath;
    if (start >= end) return false;
    const flagsAt = start - PATH + FLAGS;
    const flags = ((bytes[flagsAt] ?? 0) << 8) | (bytes[flagsAt + 1] ?? 0);
    if ((flags & (ASSUME_VALID | EXTENDED)) !== 0) return false;
    const stop = (flags & PATH_LENGTH) < PATH_LENGTH ? start + (flags & PATH_LENGTH) : bytes.indexOf(0, start);
    if (stop <= start || stop >= end || bytes[stop] !== 0) return false;
    let slash = stop - 1;
    while (slash > start && bytes[slash] !== SLASH) slash--;
    if (!isSame(bytes, last.start, last.stop, start, slash)) {
      last = { start, stop: slash };
      listener.seeDirectory(bytes.toString("utf8", start, slash));
    }
    if (endings.has(endingOf(bytes, stop)))
      listener.seeName(bytes.toString("utf8", slash === start ? start : slash + 1, stop));
    // One to eight NULs end an entry, up to a multiple of eight.
    at += (stop - at + 8) & ~7;
  }
  while (at < end) {
    if (at + SIGNATURE_AND_SIZE > end || !HARMLESS.has(bytes.toString("latin1", at, at + 4))) return false;
    at += SIGNATURE_AND_SIZE + bytes.readUInt32BE(at + 4);
  }
  return at === end;
}

/** Returns the last three bytes of a name that stops at `stop` as one number. */
export function endingOf(bytes: Buffer, stop = bytes.length): number {
  return ((bytes[stop - 3] ?? 0) << 16) | ((bytes[stop - 2] ?? 0) << 8) | (bytes[stop - 1] ?? 0);
}

/** Whether two parts hold the same bytes. They are short: to call the native comparison would take longer. */
function isSame(bytes: Buffer, start: number, stop: number, otherStart: number, otherStop: number): boolean {
  if (stop - start !== otherStop - otherStart) return false;
  for (let at = start, other = otherStart; at < stop; at++, other++) if (bytes[at] !== bytes[other]) return false;
  return true;
}
