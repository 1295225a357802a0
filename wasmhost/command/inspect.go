package command

import "github.com/spf13/cobra"

func newInspect() *cobra.Command { return &cobra.Command{Use: "inspect"} }
