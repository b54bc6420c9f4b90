package align

import "slices"

// common finds a longest common subsequence of two sequences. For each element of a, it returns the
// index of its match in b, or -1. Time and memory are proportional to the product of the lengths.
func common[T comparable](a, b []T) []int {
	matches := slices.Repeat([]int{-1}, len(a))
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // longest[i*width+j] is the length of the longest common subsequence of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			matches[i] = j
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return matches
}

// ends returns the number of equal elements at the beginning of two sequences, and of further equal
// elements at their end.
func ends[T comparable](a, b []T) (head, tail int) {
	short := min(len(a), len(b))
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
