declare module "cluster-key-slot" {
  /** Slot of a key, 0 to 16383; a hash tag in braces decides it alone. */
  export default function calculateSlot(key: string): number;
}
