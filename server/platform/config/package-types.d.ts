declare module "cluster-key-slot" {
  /** Slot of a key, 0 to 16383; for a key with a hash tag in braces, the slot of the tag. */
  export default function calculateSlot(key: string): number;
}
