declare module "cluster-key-slot" {
  /** Slot of a key, 0 to 16383; with a hash tag in braces, that of the tag. */
  export default function calculateSlot(key: string): number;
}
