import { accessSync } from "node:fs";

/** A path or name as the system gave it, one character a byte: an odd name is found again, and takes no copy to look into. */
export type RawPath = string;

/** Returns a path in the form that the file system is asked with. */
export function toBuffer(path: RawPath): Buffer {
  return Buffer.from(path, "latin1");
}

/** Returns the raw form of text. */
export function toRaw(text: string): RawPath {
  return Buffer.from(text).toString("latin1");
}

/** Returns a path as text for people; bytes that are no UTF-8 become replacement characters. */
export function toText(path: RawPath): string {
  return toBuffer(path).toString();
}

/** Returns the path of `name` in a directory; "" stands for the tree itself. */
export function join(directory: RawPath, name: RawPath): RawPath {
  return directory === "" || name === "" ? directory + name : `${directory}/${name}`;
}

/** Returns the directory above, "" for the tree itself. */
export function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** Whether this user may do something (`R_OK`, `W_OK`, `X_OK`) with what lies at a path. */
export function mayAccess(path: Buffer, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
